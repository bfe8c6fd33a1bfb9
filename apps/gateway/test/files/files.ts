// Files written straight into a locker, and requests whose target is sent without normalization.

import { hash } from 'node:crypto'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Identity, SignedCall, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import type { FileRow, Locker } from '../../src/db/schema.ts'
import { newFile } from '../../src/files/name-files.ts'
import { writeObject } from '../../src/files/objects.ts'
import { placeObject } from '../../src/files/place-object.ts'
import { changeManifest, findLockerOf } from '../../src/files/store.ts'
import { grantTo } from '../../src/lockers/access.ts'

export async function lockerRow({ gateway }: TestGateway, { lockerId }: TestLocker): Promise<Locker> {
  const locker = await findLockerOf(gateway.context.database.db, { locker_id: lockerId })
  if (!locker) throw new Error(`there is no locker ${lockerId}`)
  return locker
}

/** Changes the storage limit of the owner of a locker. */
export async function limitBytes(instance: TestGateway, of: TestLocker, storage_limit_bytes: number): Promise<void> {
  const locker = await lockerRow(instance, of)
  const changed = { terms: JSON.stringify({ ...JSON.parse(locker.terms), storage_limit_bytes }) }
  const { db } = instance.gateway.context.database
  await writable(db).updateTable('lockers').set(changed).where('locker_id', '=', of.lockerId).execute()
}

/** Stores a file with these bytes, as after an upload. */
export async function storeFile(
  instance: TestGateway,
  to: TestLocker,
  filename: string,
  bytes: string,
  { contentType = 'text/plain', isConfirmed = true } = {},
): Promise<FileRow> {
  const { context } = instance.gateway
  const locker = await lockerRow(instance, to)
  const about = { contentType, size: null }
  const object = await writeObject(context, locker.provider, Readable.from([Buffer.from(bytes)]), about)
  const contentHash = isConfirmed ? { contentHash: `sha256:${hash('sha256', bytes)}` } : {}
  return placeObject(context, locker, {
    filename,
    object,
    grant: grantTo(locker.owner, locker),
    contentType,
    expectedHash: null,
    mayCreate: true,
    ...contentHash,
  })
}

/** Inserts many entries with invented facts and no bytes. */
export async function insertFiles(
  instance: TestGateway,
  to: TestLocker,
  filenames: readonly string[],
  facts: (index: number) => Partial<FileRow> = () => ({}),
): Promise<void> {
  const { db } = instance.gateway.context.database
  const locker = await lockerRow(instance, to)
  const rows = filenames.map((filename, i) => ({
    ...newFile(locker, { filename, contentType: 'text/plain', expectedHash: null }),
    ...facts(i),
  }))
  await writable(db)
    .transaction()
    .execute(async (tx) => {
      for (let i = 0; i < rows.length; i += 1000) {
        const some = rows.slice(i, i + 1000)
        await tx.insertInto('files').values(some).execute()
      }
      await changeManifest(tx, locker.locker_id, { at: '2026-09-01T12:00:00Z', files: rows.length })
    })
}

export interface RawReply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Sends the target unchanged. `fetch` would resolve dots and encode it. */
export async function sendRaw(
  instance: TestGateway,
  method: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<RawReply> {
  const response = await beginRaw(instance, method, target, headers)
  return { status: response.statusCode ?? 0, headers: response.headers, text: (await buffer(response)).toString() }
}

/** Sends a signed request with the target unchanged. */
export function callRaw(instance: TestGateway, who: Identity, call: SignedCall): Promise<RawReply> {
  return sendRaw(instance, call.method ?? 'GET', call.path, instance.sign(who, call).headers)
}

/** Resolves with the response once its headers arrive. The caller reads the body. */
export function beginRaw(
  { gateway }: TestGateway,
  method: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const { hostname, port } = new URL(gateway.url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, method, path: target, headers, agent: false }, resolve).on('error', reject).end()
  })
}

/** A name in a path, with each segment encoded. */
export function pathOf(filename: string): string {
  return filename.split('/').map(encodeURIComponent).join('/')
}
