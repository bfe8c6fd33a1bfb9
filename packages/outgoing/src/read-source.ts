import type { IncomingMessage } from 'node:http'
import { finished, type Readable, Transform } from 'node:stream'
import { SourceError } from './source-error.ts'

/** How large the file is, null when only the end of the answer tells. An answer that is not the file is refused. */
export function sizeOfSource({ statusCode, headers }: IncomingMessage, maxBytes: number): number | null {
  const { 'content-encoding': encoding, 'transfer-encoding': transfer, 'content-length': length } = headers
  if (statusCode !== 200) throw new SourceError('bad_status', `the source answers ${statusCode}, not 200`)
  if ((encoding && encoding.toLowerCase() !== 'identity') || (transfer && transfer.toLowerCase() !== 'chunked'))
    throw new SourceError('encoded', 'the source sends the file encoded, though asked not to')
  // Such a file ends where the connection does, and Node takes a broken connection for the end.
  if (!transfer && length === undefined)
    throw new SourceError('broken_off', 'the source does not say where the file ends')
  const size = length === undefined ? null : Number(length)
  if (size !== null && size > maxBytes) throw tooLarge(maxBytes)
  return size
}

export function readSource(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Readable {
  let received = 0
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      if (received > maxBytes) done(tooLarge(maxBytes))
      else done(null, chunk)
    },
  })
  // An error before anybody reads must not end the process; who reads later is told it all the same.
  body.on('error', () => {})
  signal.addEventListener('abort', () => body.destroy(signal.reason), { once: true })
  finished(response, (cause) => {
    if (cause) body.destroy(new SourceError('broken_off', 'the source broke off before the end of the file', cause))
  })
  return response.pipe(body)
}

function tooLarge(maxBytes: number): SourceError {
  return new SourceError('too_large', `the source is larger than ${maxBytes} bytes`)
}
