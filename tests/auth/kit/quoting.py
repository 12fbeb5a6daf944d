"""A plugin of mock_as.py: the tool "forbidden" fails, and quotes the token it was called with."""


def tool(world, handler, name):
    if name != "forbidden":
        return None
    handler.reply(500, "cannot serve " + handler.headers.get("Authorization", "nobody"), ctype="text/plain")
    return True
