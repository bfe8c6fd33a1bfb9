// Uploads and confirmations over HTTP, and storage whose reads are recorded and can be paused.

import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream'
import type { ConfirmedFile, ConfirmedFiles } from '@svc/api/confirm-files'
import type { FileList, Manifest } from '@svc/api/files'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import type { Reply, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { openLocalProvider } from '@svc/storage/local'
import { ProviderError, type StorageProvider } from '@svc/storage/provider'
import { expect } from 'vitest'
import { createFile, put } from '../../adapters/http/transfers.ts'

export interface ErrorReply {
  error: string
  message: string
  details: Record<string, unknown>
  detail: { loc: (string | number)[]; msg: string }[]
}

export const sha256 = (bytes: string | Uint8Array) => `sha256:${hash('sha256', bytes)}`

export async function upload(
  instance: TestGateway,
  locker: TestLocker,
  filename: string,
  bytes: string | Uint8Array,
  promised: { expected_hash?: string } = {},
): Promise<void> {
  const urls = await createFile(instance, locker, filename, promised)
  const uploaded = await put(urls.upload, bytes as BodyInit)
  expect(uploaded.status, await uploaded.text()).toBe(200)
}

/** Confirms by query, without credentials. */
export function confirm<Body = ConfirmedFile>(
  instance: TestGateway,
  { receiptId }: Pick<TestLocker, 'receiptId'>,
  filename: string,
): Promise<Reply<Body>> {
  const query = new URLSearchParams({ receipt_id: receiptId, filename })
  return instance.send('POST', `/v1/files/confirm?${query}`)
}

export function confirmBatch<Body = ConfirmedFiles>(
  instance: TestGateway,
  { receiptId }: Pick<TestLocker, 'receiptId'>,
  filenames: readonly string[],
): Promise<Reply<Body>> {
  const query = new URLSearchParams([['receipt_id', receiptId], ...filenames.map((name) => ['filenames', name])])
  return instance.send('POST', `/v1/files/confirm-batch?${query}`)
}

export async function entryOf(locker: TestLocker, filename: string) {
  const { body } = await locker.call<FileList>(['locker:list'], 'GET', '/files')
  return body.files.find((file) => file.filename === filename)
}

export async function manifestOf(locker: TestLocker): Promise<Manifest> {
  return (await locker.call<Manifest>(['locker:read'], 'GET', '/manifest')).body
}

export type WatchedStorage = Awaited<ReturnType<typeof watchedStorage>>

/** The local driver, in its own folder or in a shared one. */
export async function watchedStorage(shared?: string) {
  const folder = shared ?? (await mkdtemp(join(tmpdir(), 'svc-watched-')))
  const local = await openLocalProvider({ folder })
  const reads: string[] = []
  const obstacles: (() => Promise<void>)[] = []
  let underWay = 0
  let mostAtOnce = 0

  const read: StorageProvider['read'] = async (key, range) => {
    reads.push(key.id)
    mostAtOnce = Math.max(mostAtOnce, ++underWay)
    const end = () => underWay--
    try {
      await obstacles.shift()?.()
      const stream = await local.read(key, range)
      if (stream) finished(stream, end)
      else end()
      return stream
    } catch (error) {
      end()
      throw error
    }
  }

  return {
    folder,
    providers: onlyProvider({ ...local, read }),
    /** Ids of the objects that were read, in order. */
    reads,
    /** The highest number of concurrent reads. */
    mostAtOnce: () => mostAtOnce,
    /** Pauses the next unpaused read before it opens the object. */
    holdRead() {
      const began = Promise.withResolvers<void>()
      const paused = Promise.withResolvers<void>()
      obstacles.push(() => {
        began.resolve()
        return paused.promise
      })
      return { began: began.promise, release: paused.resolve }
    },
    /** Makes the next read fail, as with an unavailable provider. */
    failRead() {
      obstacles.push(() => Promise.reject(new ProviderError('unavailable', new Error('the provider is down'))))
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
