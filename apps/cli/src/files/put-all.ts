// Uploads files and reports the outcome of each.

import {
  type Client,
  contentTypeOf,
  type NamedBytes,
  type PutOutcome,
  SMALL_FILE_BYTES,
  type StoredFile,
} from '@svc/sdk'
import { type FoundFile, fileSource } from '@svc/sdk/node'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import type { Encrypt } from './encryption.ts'
import { type Outcome, resumingText } from './outcomes.ts'
import { isStored, type Stored } from './unchanged.ts'

const AT_ONCE = 4

export interface Putting {
  session: Session
  client: Client
  locker: NamedLocker
  /** The files that the locker has under these names. */
  stored: ReadonlyMap<string, Stored>
  /** The content type of all files; by default from their names. */
  type?: string | undefined
  /** Encrypts the uploads. */
  encrypt?: Encrypt | null
}

/** `report` gets a finished file, or progress in bytes. */
export async function putAll(
  { session, client, locker, stored, type, encrypt = null }: Putting,
  files: readonly FoundFile[],
  report: (outcome: Outcome | null, bytes: number) => void,
): Promise<void> {
  const { signal } = session.host

  /** Yields the files that are not stored yet, and reports the others as unchanged. */
  async function* changed(some: readonly FoundFile[]): AsyncGenerator<NamedBytes> {
    for (const file of some) {
      signal.throwIfAborted()
      const { name: filename, path, size } = file
      const there = stored.get(filename)
      try {
        const encrypted = encrypt && (await encrypt(await fileSource(path), filename))
        const isUnchanged = encrypted
          ? encrypted.contentHash === (there?.content_hash ?? null)
          : await isStored(file, there)
        if (isUnchanged) report(outcomeOf('unchanged', filename, encrypted?.size ?? size, there?.content_hash), size)
        else
          yield {
            filename,
            bytes: encrypted ?? (await fileSource(path)),
            contentType: type ?? contentTypeOf(filename),
          }
      } catch (error) {
        signal.throwIfAborted()
        report({ filename, status: 'failed', error }, 0)
      }
    }
  }

  const onFile = (outcome: PutOutcome) => {
    if ('error' in outcome) report({ ...outcome, status: 'failed' }, 0)
    else report(storedOutcome(outcome.stored, stored), outcome.stored.size_bytes)
  }
  const small = files.filter(({ size }) => size <= SMALL_FILE_BYTES)
  await client.putMany(locker, changed(small), { atOnce: AT_ONCE, onFile, signal })

  const large = files.filter(({ size }) => size > SMALL_FILE_BYTES)
  for await (const { filename, bytes, contentType = '' } of changed(large)) {
    let sent = 0
    const onProgress = (done: number) => {
      report(null, done - sent)
      sent = done
    }
    const onResume = (kept: number, size: number) => session.output.note(resumingText(filename, kept, size))
    const options = { contentType, onProgress, onResume, signal }
    const outcome: Outcome = await client.put(locker, filename, bytes, options).then(
      (file) => storedOutcome(file, stored),
      (error: unknown) => ({ filename, status: 'failed', error }),
    )
    signal.throwIfAborted()
    report(outcome, 0)
  }
}

/** The outcome, with the file that it has replaced. */
export function storedOutcome(
  { filename, size_bytes, content_hash }: Omit<StoredFile, 'content_hash'> & { content_hash: string | null },
  before: ReadonlyMap<string, Stored>,
): Outcome {
  const replaced = before.get(filename)
  return {
    ...outcomeOf('stored', filename, size_bytes, content_hash),
    ...(replaced && { replaces: { size_bytes: replaced.size_bytes, uploaded_at: replaced.uploaded_at } }),
  }
}

function outcomeOf<Status extends 'stored' | 'unchanged'>(
  status: Status,
  filename: string,
  size_bytes: number,
  content_hash: string | null = null,
) {
  return { filename, status, size_bytes, content_hash }
}
