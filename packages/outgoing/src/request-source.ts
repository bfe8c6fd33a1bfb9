import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { TcpSocketConnectOpts } from 'node:net'
import { SourceError, type SourceFault } from './source-error.ts'

export interface Connecting {
  ca?: string
  port?: number
}

/** What is said to a host. */
export interface Spoken {
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
}

/** An address gets two seconds while there are others to try. */
const TRY_ALL: Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 2_000,
}

/** Resolves with the head of the answer. Connects to the addresses given; the host's name is not looked up again. */
export function requestSource(
  url: URL,
  addresses: LookupAddress[],
  { method, headers, body }: Spoken,
  { ca, port }: Connecting,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let fault: [SourceFault, string] = ['unreachable', 'the host of the source cannot be reached']
    const asked = request(url, {
      ...TRY_ALL,
      agent: false,
      method,
      headers: { ...headers, host: url.host },
      lookup: (_hostname, _options, done) => done(null, addresses),
      // Said aloud, because an environment variable can change what is usual.
      rejectUnauthorized: true,
      signal,
      ...(ca && { ca }),
      ...(port && { port }),
    })
    asked.once('socket', (socket) => {
      socket.once('connect', () => {
        fault = ['tls_failed', 'the host of the source does not prove its name with a good certificate']
      })
      socket.once('secureConnect', () => {
        fault = ['unreachable', 'the host of the source gives no good HTTP answer']
      })
    })
    asked.once('response', resolve)
    asked.on('error', (cause) => reject(signal.aborted ? signal.reason : new SourceError(...fault, cause)))
    // There is no error where a host answers that it now speaks another protocol.
    asked.once('close', () => reject(new SourceError(...fault)))
    asked.end(body)
  })
}
