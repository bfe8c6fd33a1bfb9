// The files of the log, as tlog-tiles clients read them.

import { createHash } from 'node:crypto'
import { readTilePath } from '@svc/protocol/transparency/tiles'
import { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'

type Asked = Pick<WireRequest, 'method' | 'headers'>

const YEAR = 31_536_000

export async function answerCheckpoint({ publishedLog, config }: Context, wire: Asked): Promise<Bytes> {
  const checkpoint = await publishedLog.checkpoint()
  if (!checkpoint) throw nothingPublished()
  const { text } = checkpoint
  return answer(wire, Buffer.from(text), {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': `public, max-age=${config.transparency.checkpointSeconds}`,
    etag: `"${createHash('sha256').update(text).digest('base64url')}"`,
  })
}

/** `path` is the part after `tile/`. */
export async function answerTile({ publishedLog }: Context, path: string, wire: Asked): Promise<Bytes> {
  const tile = readTilePath(`tile/${path}`)
  const bytes = tile && (await publishedLog.tile(tile))
  if (!bytes) throw tileNotInLog()
  return answer(wire, bytes, {
    'content-type': 'application/octet-stream',
    'cache-control': `public, max-age=${YEAR}, immutable`,
    // The content of a tile never changes.
    etag: `"${path}"`,
  })
}

function answer({ method, headers }: Asked, bytes: Uint8Array, own: Record<string, string> & { etag: string }): Bytes {
  if (headers['if-none-match']?.includes(own.etag)) return new Bytes(304, own, null)
  const withLength = { ...own, 'content-length': String(bytes.length) }
  if (method === 'HEAD') return new Bytes(200, withLength, null)
  return new Bytes(200, withLength, bytes)
}

function nothingPublished(): ServiceError {
  return new ServiceError('not_in_log', 'the log has no checkpoint yet', {
    hint: 'the first checkpoint follows a few seconds after the first statement',
  })
}

function tileNotInLog(): ServiceError {
  return new ServiceError('not_in_log', 'the log has no such tile', {
    hint: 'C2SP tlog-tiles defines the names of tiles; /log/checkpoint has the size of the log',
  })
}
