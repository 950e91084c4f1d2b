"""Instructor: answers as pydantic models, in each of its modes."""

import instructor
from checks import BASE_URL, KEY, MODEL, QUESTION, run_all
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

MESSAGES = [{"role": "user", "content": QUESTION}]


class Report(BaseModel):
    city: str
    degrees: int


def asked(mode):
    client = instructor.from_openai(OpenAI(base_url=BASE_URL, api_key=KEY), mode=mode)
    answer = client.chat.completions.create(
        model=MODEL, messages=MESSAGES, response_model=Report, max_retries=0
    )
    assert isinstance(answer, Report)


def by_a_tool():
    asked(instructor.Mode.TOOLS)


def by_a_schema():
    asked(instructor.Mode.JSON_SCHEMA)


async def by_a_tool_async():
    own = AsyncOpenAI(base_url=BASE_URL, api_key=KEY)
    answer = await instructor.from_openai(own).chat.completions.create(
        model=MODEL, messages=MESSAGES, response_model=Report, max_retries=0
    )
    assert isinstance(answer, Report)


def partial_objects():
    client = instructor.from_openai(OpenAI(base_url=BASE_URL, api_key=KEY))
    parts = list(
        client.chat.completions.create_partial(
            model=MODEL, messages=MESSAGES, response_model=Report, max_retries=0
        )
    )
    assert parts and parts[-1].city is not None


run_all([by_a_tool, by_a_schema, by_a_tool_async, partial_objects])
