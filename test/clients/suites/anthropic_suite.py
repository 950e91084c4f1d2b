"""Anthropic's own client: messages, streams, tools, counts."""

from anthropic import Anthropic, AsyncAnthropic, BadRequestError
from checks import KEY, MODEL, QUESTION, URL, WEATHER, run_all

client = Anthropic(base_url=URL, api_key=KEY)
MESSAGES = [{"role": "user", "content": QUESTION}]
TOOL = {"name": "get_weather", "input_schema": WEATHER}


def message():
    answer = client.messages.create(model=MODEL, max_tokens=200, messages=MESSAGES)
    assert answer.content[0].text and answer.usage.output_tokens


def message_streamed_equals_message():
    whole = client.messages.create(model=MODEL, max_tokens=200, messages=MESSAGES)
    with client.messages.stream(model=MODEL, max_tokens=200, messages=MESSAGES) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == whole.content[0].text and final.stop_reason == whole.stop_reason


async def message_async():
    async with AsyncAnthropic(base_url=URL, api_key=KEY) as own:
        answer = await own.messages.create(model=MODEL, max_tokens=50, messages=MESSAGES)
    assert answer.content


def tool_is_called_and_the_loop_ends():
    messages = list(MESSAGES)
    for _ in range(4):
        answer = client.messages.create(
            model=MODEL, max_tokens=500, messages=messages, tools=[TOOL]
        )
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            break
        messages.append({"role": "assistant", "content": answer.content})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": "Sunny."} for call in calls
        ]
        messages.append({"role": "user", "content": results})
    assert len(messages) > 1 and answer.stop_reason == "end_turn"


def tokens_are_counted():
    count = client.messages.count_tokens(model=MODEL, messages=MESSAGES)
    answer = client.messages.create(model=MODEL, max_tokens=1, messages=MESSAGES)
    # What was cached is counted beside the rest, as in Anthropic's answers.
    cached = answer.usage.cache_read_input_tokens or 0
    assert count.input_tokens == answer.usage.input_tokens + cached


def bad_requests_are_its_errors():
    try:
        client.messages.create(model=MODEL, max_tokens=-1, messages=MESSAGES)
    except BadRequestError as error:
        assert error.body["type"] == "error" and error.body["error"]["message"]
    else:
        raise AssertionError("no BadRequestError")


run_all(
    [
        message,
        message_streamed_equals_message,
        message_async,
        tool_is_called_and_the_loop_ends,
        tokens_are_counted,
        bad_requests_are_its_errors,
    ]
)
