// For tests: every way to store a file under an untrusted name, in one locker.

import type { Reply } from '@svc/devnet/services/test-gateway'
import { utf8 } from '@svc/protocol/bytes'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { openSource } from '@svc/service/outgoing/open-source'
import { SOURCE, startTestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { openTestSession } from '../adapters/http/sessions/sessions.ts'
import { type Bucket, openS3Gateway } from '../adapters/s3/s3-gateway.ts'
import { CHUNK, send, tusToken } from '../adapters/tus/uploads.ts'
import { pathOf } from './files.ts'

interface Outcome {
  status: number
  /** The error code of a refusal. */
  code: string | null
}

export async function openEntryPoints(databaseUrl: string) {
  let fetched = ''
  const source = await startTestTlsServer((_request, response) => response.end(fetched))
  const fetchSource = (url: string) => openSource(url, source.options)
  const instance = await openS3Gateway({ DATABASE_URL: databaseUrl }, { fetchSource })

  /** Each function stores a text under a name in the bucket's locker. */
  async function to(bucket: Bucket) {
    const { locker } = bucket
    const token = await tusToken(locker)
    return {
      async 'short URL'(filename: string, text: string): Promise<Outcome> {
        const body = { filename, content_type: 'text/plain' }
        const made = await locker.call<{ upload_url: string }>(['locker:write'], 'POST', '/files', body)
        if (made.status !== 200) return outcomeOf(made)
        await locker.put(filename, text)
        return outcomeOf(made)
      },
      async session(filename: string, text: string): Promise<Outcome> {
        const request = { files: [{ filename, content_type: 'text/plain' }] }
        const tried = await locker.call(['locker:write'], 'POST', '/upload-sessions', request)
        if (tried.status !== 200) return outcomeOf(tried)
        const session = await openTestSession(instance, locker, request)
        await session.raw(0, text)
        return outcomeOf(await session.finalize())
      },
      async fetch(filename: string, text: string): Promise<Outcome> {
        fetched = text
        // Without a name in the request, the file gets the last part of the URL if that is a valid name.
        const isLastPart = !filename.includes('/') && filenameProblem(filename, DEFAULT_SYSTEM_PREFIX) === null
        const body = isLastPart
          ? { source_url: `https://files.example.test/${encodeURIComponent(filename)}` }
          : { source_url: SOURCE, filename }
        const { lockerId, receiptId, owner } = locker
        const path = '/v1/files/fetch-and-store'
        return outcomeOf(
          await instance.call(owner, { method: 'POST', path, body, ops: ['locker:write'], lockerId, receiptId }),
        )
      },
      async tus(filename: string, text: string): Promise<Outcome> {
        const headers = {
          ...CHUNK,
          'x-upload-token': token,
          'upload-length': `${utf8(text).length}`,
          'upload-metadata': `filename ${withLoneSurrogates(filename).toString('base64')}`,
        }
        const url = `${instance.gateway.url}/v1/lockers/${bucket.name}/tus`
        const { status, error } = await send(url, 'POST', headers, text)
        return { status, code: error }
      },
      async S3(filename: string, text: string): Promise<Outcome> {
        const { status, code } = await bucket.send('PUT', encodedKey(filename), { body: text })
        return { status, code }
      },
    }
  }

  return {
    instance,
    to,
    async close() {
      await instance.close()
      await source.stop()
    },
  }
}

function outcomeOf({ status, body }: Reply<unknown>): Outcome {
  return { status, code: (body as { error?: string }).error ?? null }
}

/** Encodes lone surrogates as WTF-8 does, where `Buffer` would write U+FFFD. */
function withLoneSurrogates(text: string): Buffer {
  const of = (unit: string) => {
    const code = unit.charCodeAt(0)
    return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)])
  }
  return Buffer.concat([...text].map((char) => (char.isWellFormed() ? Buffer.from(char) : of(char))))
}

/** A key in a path, with each segment in the encoding that is signed. */
export function encodedKey(name: string): string {
  if (!name.isWellFormed()) return withLoneSurrogates(name).toString('hex').replace(/../g, '%$&')
  return pathOf(name).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
