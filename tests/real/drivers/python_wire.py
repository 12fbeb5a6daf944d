"""Drives an MCP endpoint with the official Python SDK, and tells every byte that went over the wire.

Standard input: {"url", "headers", "mode", "calls": [{"name", "arguments"}]}; `mode` as the SDK's Client knows it.
Standard output: [{"request", "response"}], the bodies of every POST in order, as they were sent and received.
"""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

exchanges = []


async def keep(response):
    if response.request.method != "POST":
        return
    await response.aread()
    exchanges.append({"request": response.request.content.decode(), "response": response.text})


async def drive(plan):
    http_client = create_mcp_http_client(headers=plan["headers"])
    http_client.event_hooks = {"request": [], "response": [keep]}
    async with http_client:
        transport = streamable_http_client(plan["url"], http_client=http_client)
        async with Client(transport, mode=plan["mode"]) as client:
            await client.list_tools()
            for call in plan["calls"]:
                await client.call_tool(call["name"], call["arguments"])


asyncio.run(drive(json.load(sys.stdin)))
print(json.dumps(exchanges))
