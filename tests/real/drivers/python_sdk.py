"""Drives an MCP endpoint with the official Python SDK.

Standard input: {"url", "headers", "mode", "calls": [{"name", "arguments"}]}; `mode` as the SDK's Client knows it.
Standard output: {"revision", "server", "tools", "results"}.
"""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def drive(plan):
    http_client = create_mcp_http_client(headers=plan["headers"])
    async with http_client:
        transport = streamable_http_client(plan["url"], http_client=http_client)
        async with Client(transport, mode=plan["mode"]) as client:
            tools = await client.list_tools()
            results = []
            for call in plan["calls"]:
                result = await client.call_tool(call["name"], call["arguments"])
                results.append(result.model_dump(mode="json", by_alias=True, exclude_unset=True))
            return {
                "revision": client.session.protocol_version,
                "server": client.session.server_info.name,
                "tools": [tool.name for tool in tools.tools],
                "results": results,
            }


print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
