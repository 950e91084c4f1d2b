"""LangChain's chat model for OpenAI, and an agent of LangGraph."""

from checks import BASE_URL, KEY, MODEL, QUESTION, run_all
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

model = ChatOpenAI(base_url=BASE_URL, api_key=KEY, model=MODEL)


class Report(BaseModel):
    """A report on the weather."""

    city: str
    degrees: int


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}."


def chat():
    answer = model.invoke(QUESTION)
    assert answer.content and answer.usage_metadata["total_tokens"]


def chat_streamed():
    assert "".join(chunk.content for chunk in model.stream(QUESTION))


async def chat_async():
    assert (await model.ainvoke(QUESTION)).content


def batch():
    assert len(model.batch([QUESTION, QUESTION])) == 2


def structured_output():
    assert isinstance(model.with_structured_output(Report).invoke(QUESTION), Report)


def responses_api():
    own = ChatOpenAI(base_url=BASE_URL, api_key=KEY, model=MODEL, use_responses_api=True)
    assert own.invoke(QUESTION).content


def agent_ends_by_itself():
    agent = create_agent(model, [get_weather])
    messages = agent.invoke({"messages": [("user", QUESTION)]})["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]


def embeddings():
    own = OpenAIEmbeddings(
        base_url=BASE_URL, api_key=KEY, model=MODEL, check_embedding_ctx_length=False
    )
    assert len(own.embed_documents(["one", "two"])) == 2


run_all(
    [
        chat,
        chat_streamed,
        chat_async,
        batch,
        structured_output,
        responses_api,
        agent_ends_by_itself,
        embeddings,
    ]
)
