/** The page at the root of the API. */
export const WELCOME_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Althing</title></head>
<body>
<h1>Althing</h1>
<p>This is the HTTP API of a database. Send a <code>POST</code> to a scope, for instance:</p>
<pre>curl -u admin:PASSWORD -H 'Content-Type: application/json' \\
  -d '{"type":"query","code":"1 + 1;"}' http://HOST:PORT//stuff</pre>
</body>
</html>
`;
