"""LlamaIndex: chats, streams, tools, structured answers, embeddings and an index."""

from checks import BASE_URL, KEY, MODEL, QUESTION, run_all
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

SERVER = {"model": MODEL, "api_base": BASE_URL, "api_key": KEY}
llm = OpenAILike(**SERVER, is_chat_model=True, is_function_calling_model=True)
embedder = OpenAILikeEmbedding(model_name=MODEL, api_base=BASE_URL, api_key=KEY)
MESSAGES = [ChatMessage(role="user", content=QUESTION)]


class Report(BaseModel):
    """A report on the weather."""

    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}."


def chat():
    assert llm.chat(MESSAGES).message.content


def chat_streamed():
    assert "".join(part.delta or "" for part in llm.stream_chat(MESSAGES))


async def chat_async():
    assert (await llm.achat(MESSAGES)).message.content


def text_completion():
    own = OpenAILike(**SERVER, is_chat_model=False)
    assert own.complete("Once upon a time").text


def structured_answer():
    answer = llm.as_structured_llm(Report).chat(MESSAGES)
    assert isinstance(answer.raw, Report)


def tool_is_called():
    tool = FunctionTool.from_defaults(get_weather)
    answer = llm.chat_with_tools([tool], user_msg=QUESTION)
    (call,) = llm.get_tool_calls_from_response(answer)
    assert call.tool_name == "get_weather"


async def agent_ends_by_itself():
    agent = FunctionAgent(tools=[get_weather], llm=llm)
    answer = await agent.run(QUESTION)
    assert answer.response.content and [call.tool_name for call in answer.tool_calls]


def embeddings():
    assert len(embedder.get_text_embedding_batch(["one", "two"])) == 2


def index_is_asked():
    documents = [Document(text=text) for text in ["A relay has a baton.", "Paris is sunny."]]
    index = VectorStoreIndex.from_documents(documents, embed_model=embedder)
    answer = index.as_query_engine(llm=llm).query(QUESTION)
    assert answer.response and answer.source_nodes


run_all(
    [
        chat,
        chat_streamed,
        chat_async,
        text_completion,
        structured_answer,
        tool_is_called,
        agent_ends_by_itself,
        embeddings,
        index_is_asked,
    ]
)
