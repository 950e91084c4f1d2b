"""LiteLLM, as a client of an OpenAI-compatible server."""

import litellm
from checks import BASE_URL, KEY, MODEL, QUESTION, WEATHER, run_all

MESSAGES = [{"role": "user", "content": QUESTION}]
SERVER = {"model": f"openai/{MODEL}", "api_base": BASE_URL, "api_key": KEY}
HOSTED = {"model": f"hosted_vllm/{MODEL}", "api_base": BASE_URL, "api_key": KEY}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}


def chat():
    assert litellm.completion(**SERVER, messages=MESSAGES).choices[0].message.content


def chat_as_hosted_vllm():
    assert litellm.completion(**HOSTED, messages=MESSAGES).choices[0].message.content


def chat_streamed():
    chunks = list(litellm.completion(**SERVER, messages=MESSAGES, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert litellm.stream_chunk_builder(chunks).choices[0].finish_reason == "stop"


async def chat_async():
    answer = await litellm.acompletion(**SERVER, messages=MESSAGES)
    assert answer.choices[0].message.content


def tool_is_called():
    answer = litellm.completion(
        **SERVER, messages=MESSAGES, tools=[TOOL], tool_choice="required"
    )
    assert answer.choices[0].message.tool_calls[0].function.name == "get_weather"


def text_completion():
    assert litellm.text_completion(
        model=f"text-completion-openai/{MODEL}", api_base=BASE_URL, api_key=KEY, prompt="Once"
    ).choices[0].text


def response():
    assert litellm.responses(**SERVER, input=QUESTION).output


def embedding():
    assert len(litellm.embedding(**SERVER, input=["one", "two"]).data) == 2


run_all(
    [
        chat,
        chat_as_hosted_vllm,
        chat_streamed,
        chat_async,
        tool_is_called,
        text_completion,
        response,
        embedding,
    ]
)
