// Helpers for transfer tests: the URLs of a file, tokens, raw uploads, and what is left in storage.

import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Identity, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { toBase64Url } from '@svc/protocol/bytes'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { expect, onTestFinished } from 'vitest'
import type { FileRow } from '../../../src/db/schema.ts'
import type { Gateway } from '../../../src/gateway.ts'

export interface FileUrls {
  upload: string
  download: string
  remove: string
}

/** Creates a file entry, as the owner by default. The URLs have the address of the running gateway. */
export async function createFile(
  { gateway }: TestGateway,
  locker: TestLocker,
  filename: string,
  { contentType = 'text/plain', ...more }: { contentType?: string; expected_hash?: string; ttl_min?: number } = {},
  who?: Identity,
): Promise<FileUrls> {
  const request = { filename, content_type: contentType, ...more }
  const made = await locker.call<Record<string, string>>(['locker:write'], 'POST', '/files', request, who)
  expect(made.status, JSON.stringify(made.body)).toBe(200)
  const here = (url: string | undefined) => gateway.url + new URL(url as string).pathname
  return {
    upload: here(made.body.upload_url),
    download: here(made.body.download_url),
    remove: here(made.body.delete_url),
  }
}

export function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

export function put(url: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'text/plain', ...headers },
    redirect: 'manual',
    duplex: 'half',
  } as RequestInit)
}

export async function errorOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { error: string }).error]
}

/** The file's row in the database. */
export async function rowOf({ gateway }: TestGateway, locker: TestLocker, filename: string): Promise<FileRow> {
  const files = gateway.context.database.db.selectFrom('files').selectAll().where('filename', '=', filename)
  return files.where('locker_id', '=', locker.lockerId).executeTakeFirstOrThrow()
}

export function objectRow({ gateway }: TestGateway, id: string | null) {
  const objects = gateway.context.database.db.selectFrom('objects').selectAll()
  return objects.where('object_id', '=', id as string).executeTakeFirst()
}

/** The objects in the database by state, and the files on disk, except the probes of health checks. */
export async function leftovers({ context }: Gateway) {
  const rows = await context.database.db.selectFrom('objects').select(['object_id', 'state']).execute()
  const ids = (state: string) => rows.filter((row) => row.state === state).map((row) => row.object_id)
  const folder = context.config.storage.localFolder
  const incoming = await readdir(join(folder, 'incoming'))
  const onDisk = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
  return {
    writing: ids('writing'),
    held: ids('held'),
    released: ids('released'),
    incoming: incoming.filter((name) => !name.startsWith('probe-')),
    onDisk: onDisk.filter((entry) => entry.isFile()).map((entry) => entry.name),
  }
}

/** A signed token with any payload. */
export function signPayload(payload: Json, signer: Ed25519Signer): string {
  const bytes = canonicalBytes(payload)
  return toBase64Url(Buffer.concat([bytes, signer.sign(bytes)]))
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Writes an upload to a socket of its own, which is destroyed after the test. */
export function rawUpload(url: string, headers: string[], ...bytes: (string | Uint8Array)[]): Socket {
  const { port, host, pathname, search } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
  socket.write([`PUT ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...headers, '', ''].join('\r\n'))
  for (const chunk of bytes) socket.write(chunk)
  onTestFinished(() => void socket.destroy())
  return socket
}
