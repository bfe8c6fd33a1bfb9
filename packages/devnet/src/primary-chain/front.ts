import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

const MAX_BODY_BYTES = 1024 * 1024

/** HTTP around JSON-RPC, as a node has it: POST of application/json, open to every origin. */
export function createFront(answer: (body: string) => Promise<string>): Server {
  // Clients end connections, so that none asks just when its connection is closed.
  return createServer({ keepAliveTimeout: 0 }, (request, response) => {
    respond(answer, request, response).catch((error: unknown) => {
      // Only a client that went away in the middle of its request gets here.
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
}

async function respond(answer: (body: string) => Promise<string>, request: IncomingMessage, response: ServerResponse) {
  response.setHeader('access-control-allow-origin', '*')
  if (request.method === 'OPTIONS') return allowEverything(request, response)
  if (request.method === 'GET' && request.url === '/health') return send(response, 200, 'text/plain', 'ok')
  if (request.method !== 'POST')
    return send(response, 405, 'text/plain', 'Used HTTP Method is not allowed. POST or OPTIONS is required\n')
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return send(
      response,
      415,
      'text/plain',
      'Supplied content type is not allowed. Content-Type: application/json is required\n',
    )
  const body = await readBody(request)
  if (body === null) return send(response, 413, 'text/plain', `A request may have ${MAX_BODY_BYTES} bytes\n`)
  send(response, 200, 'application/json; charset=utf-8', await answer(body))
}

function allowEverything(request: IncomingMessage, response: ServerResponse) {
  response.writeHead(204, {
    'access-control-allow-methods': 'OPTIONS, GET, POST',
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': '86400',
  })
  response.end()
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    // What is too much is still read to its end: a client that is writing would not see an answer before.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : null
}

function send(response: ServerResponse, status: number, type: string, text: string) {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
