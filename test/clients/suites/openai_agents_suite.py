"""OpenAI's agents: runs that end by themselves, over chats and over responses."""

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from checks import BASE_URL, KEY, MODEL, QUESTION, run_all
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)


class Report(BaseModel):
    city: str
    degrees: int


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}."


def agent(model_class, **options):
    own = AsyncOpenAI(base_url=BASE_URL, api_key=KEY)
    model = model_class(model=MODEL, openai_client=own)
    return Agent(name="helper", instructions="Be brief.", model=model, **options)


async def run_ends(model_class):
    result = await Runner.run(agent(model_class, tools=[get_weather]), QUESTION, max_turns=5)
    kinds = [item.type for item in result.new_items]
    assert kinds == ["tool_call_item", "tool_call_output_item", "message_output_item"], kinds
    assert result.final_output


async def run_over_chats():
    await run_ends(OpenAIChatCompletionsModel)


async def run_over_responses():
    await run_ends(OpenAIResponsesModel)


async def streamed(model_class):
    result = Runner.run_streamed(agent(model_class, tools=[get_weather]), QUESTION, max_turns=5)
    assert [event async for event in result.stream_events()]
    assert result.final_output


async def streamed_over_chats():
    await streamed(OpenAIChatCompletionsModel)


async def streamed_over_responses():
    await streamed(OpenAIResponsesModel)


async def output_type():
    result = await Runner.run(agent(OpenAIResponsesModel, output_type=Report), QUESTION)
    assert isinstance(result.final_output, Report)


run_all(
    [
        run_over_chats,
        run_over_responses,
        streamed_over_chats,
        streamed_over_responses,
        output_type,
    ]
)
