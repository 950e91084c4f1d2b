"""Pydantic AI: agents over chats, responses and messages."""

from checks import BASE_URL, KEY, MODEL, QUESTION, URL, run_all
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=BASE_URL, api_key=KEY)
CHAT = OpenAIChatModel(MODEL, provider=provider)
RESPONSES = OpenAIResponsesModel(MODEL, provider=provider)


class Report(BaseModel):
    city: str
    degrees: int


async def run_ends(model):
    agent = Agent(model)
    called = []

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather in a city."""
        called.append(city)
        return "Sunny."

    result = await agent.run(QUESTION)
    # An answer may call the tool more than once.
    assert called and result.output


async def run_over_chats():
    await run_ends(CHAT)


async def run_over_responses():
    await run_ends(RESPONSES)


async def run_over_messages():
    own = AnthropicProvider(base_url=URL, api_key=KEY)
    await run_ends(AnthropicModel(MODEL, provider=own))


async def output_type():
    result = await Agent(CHAT, output_type=Report).run(QUESTION)
    assert isinstance(result.output, Report)


async def streamed():
    async with Agent(CHAT).run_stream(QUESTION) as result:
        assert [text async for text in result.stream_text()]


run_all([run_over_chats, run_over_responses, run_over_messages, output_type, streamed])
