import { type IncomingMessage, type RequestOptions, request } from 'node:http'

export interface Head {
  status: number
  headers: Headers
  /** Of the status line and all headers, as they are on the wire. */
  bytes: number
}

/** The head of an answer, measured as a proxy must hold it. */
export function headOf(url: string, { body, ...options }: RequestOptions & { body?: string }): Promise<Head> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      response.resume().on('end', () => resolve(measured(response)))
    })
    sent.on('error', reject).end(body)
  })
}

function measured({ httpVersion, statusCode = 0, statusMessage, rawHeaders }: IncomingMessage): Head {
  const headers = new Headers()
  const lines = [`HTTP/${httpVersion} ${statusCode} ${statusMessage}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string]
    headers.append(name, value)
    lines.push(`${name}: ${value}`)
  }
  return { status: statusCode, headers, bytes: Buffer.byteLength(`${lines.join('\r\n')}\r\n\r\n`) }
}
