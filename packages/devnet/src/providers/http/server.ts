import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { type HttpServer, startHttpServer } from '../../http-server.ts'
import { type Exchange, openExchange, Refusal } from './exchange.ts'
import type { Faults } from './faults.ts'

interface ProviderServerOptions {
  faults: Faults
  /** Gets every request, as `METHOD /path?query`. */
  requests: string[]
  /** Put before each of those lines, where one provider has several servers. */
  name?: string
  port?: number
  /** Checks the request before its body is read; throws a `Refusal`. */
  authorize?(exchange: Exchange): void
  /** May throw a `Refusal`. */
  serve(exchange: Exchange): Promise<void> | void
  /** How the provider words a refusal; by default its code is the whole text. */
  refuse?(exchange: Exchange, refusal: Refusal): void
}

/** An HTTP server that records its requests and makes them fail on demand. */
export function startProviderServer(options: ProviderServerOptions): Promise<HttpServer> {
  const { faults, requests, name, port = 0, authorize, serve, refuse = refuseAsText } = options

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = [name, request.method, request.url].filter(Boolean).join(' ')
    requests.push(line)
    const fault = faults.take(line)
    if (fault === 'silence') return
    const exchange = openExchange(request, response, new URL(request.url ?? '/', 'http://localhost'), fault)
    const planned = typeof fault === 'object' && fault && 'status' in fault ? fault : null
    try {
      if (planned && !planned.afterBody) throw new Refusal(planned.status, planned.code)
      authorize?.(exchange)
      if (request.headers.expect) response.writeContinue()
      if (!planned) return await serve(exchange)
      await finished(request.resume())
      throw new Refusal(planned.status, planned.code)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refuse(exchange, error)
    }
  }

  return startHttpServer(handle, { port, requestTimeout: 0, handlesExpect: true })
}

function refuseAsText(exchange: Exchange, { status, code }: Refusal): void {
  exchange.answer(status, {}, code)
}
