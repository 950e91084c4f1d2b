"""OpenAI's own client: chats, responses, embeddings; sync, async, streamed, parsed."""

from checks import BASE_URL, KEY, MODEL, QUESTION, WEATHER, run_all
from openai import AsyncOpenAI, BadRequestError, NotFoundError, OpenAI, pydantic_function_tool
from pydantic import BaseModel

client = OpenAI(base_url=BASE_URL, api_key=KEY)
MESSAGES = [{"role": "user", "content": QUESTION}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}


class Report(BaseModel):
    city: str
    degrees: int


class Weather(BaseModel):
    """The weather in a city."""

    city: str


def models_are_listed():
    assert client.models.retrieve(MODEL).id in [model.id for model in client.models.list()]


def chat():
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES)
    assert answer.choices[0].message.content
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def chat_streamed_equals_chat():
    whole = client.chat.completions.create(model=MODEL, messages=MESSAGES)
    stream = client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True)
    text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    assert text == whole.choices[0].message.content


def chat_stream_helper_ends_with_the_completion():
    with client.chat.completions.stream(model=MODEL, messages=MESSAGES) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert {"chunk", "content.delta", "content.done"} <= kinds
    assert final.choices[0].message.content


async def chat_async():
    async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY) as own:
        answer = await own.chat.completions.create(model=MODEL, messages=MESSAGES)
        assert answer.choices[0].message.content
        stream = await own.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True)
        assert [chunk async for chunk in stream]


def chat_parsed():
    answer = client.chat.completions.parse(model=MODEL, messages=MESSAGES, response_format=Report)
    assert isinstance(answer.choices[0].message.parsed, Report)


def chat_calls_a_tool_and_ends():
    messages = list(MESSAGES)
    for _ in range(4):
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        message = answer.choices[0].message
        if not message.tool_calls:
            break
        messages.append(message)
        for call in message.tool_calls:
            assert call.function.name == "get_weather"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "Sunny."})
    assert len(messages) > 1 and message.content


def chat_tool_arguments_parsed():
    answer = client.chat.completions.parse(
        model=MODEL,
        messages=MESSAGES,
        tools=[pydantic_function_tool(Weather)],
        tool_choice="required",
    )
    assert isinstance(answer.choices[0].message.tool_calls[0].function.parsed_arguments, Weather)


def completion():
    answer = client.completions.create(model=MODEL, prompt="Once", max_tokens=8)
    assert answer.choices[0].text


def response():
    answer = client.responses.create(model=MODEL, input=QUESTION)
    assert answer.output_text and answer.status == "completed"
    again = client.responses.create(model=MODEL, input="And now?", previous_response_id=answer.id)
    assert again.usage.input_tokens > answer.usage.input_tokens
    assert client.responses.retrieve(answer.id).output_text == answer.output_text
    client.responses.delete(answer.id)


def response_streamed():
    with client.responses.stream(model=MODEL, input=QUESTION) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert final.output_text


def response_parsed():
    answer = client.responses.parse(model=MODEL, input=QUESTION, text_format=Report)
    assert isinstance(answer.output_parsed, Report)


def conversation():
    begun = client.conversations.create(items=[{"role": "user", "content": "Hello."}])
    client.responses.create(model=MODEL, input=QUESTION, conversation=begun.id)
    assert len(list(client.conversations.items.list(begun.id))) == 3
    client.conversations.delete(begun.id)


def embeddings():
    answer = client.embeddings.create(model=MODEL, input=["one", "two"])
    assert [len(one.embedding) > 0 for one in answer.data] == [True, True]


def bad_requests_are_its_errors():
    for act, kind in [
        (lambda: client.chat.completions.create(model=MODEL, messages=[]), BadRequestError),
        (lambda: client.chat.completions.create(model="no-such", messages=MESSAGES), NotFoundError),
    ]:
        try:
            act()
        except kind:
            continue
        raise AssertionError(f"no {kind.__name__}")


run_all(
    [
        models_are_listed,
        chat,
        chat_streamed_equals_chat,
        chat_stream_helper_ends_with_the_completion,
        chat_async,
        chat_parsed,
        chat_calls_a_tool_and_ends,
        chat_tool_arguments_parsed,
        completion,
        response,
        response_streamed,
        response_parsed,
        conversation,
        embeddings,
        bad_requests_are_its_errors,
    ]
)
