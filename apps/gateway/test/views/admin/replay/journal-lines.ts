// Reads and damages the journal of a gateway, as disks do.

import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOURNAL } from '@svc/database/journal/folder'
import { openJournal, readJournal } from '@svc/database/journal/journal'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { onTestFinished, vi } from 'vitest'
import type { Context } from '../../../../src/context.ts'
import type { Document, Entry } from '../../../../src/continuity/documents.ts'
import type { JournalPlace } from '../../../../src/continuity/missing.ts'
import { replay } from '../../../../src/views/admin/replay/replay.ts'

/**
 * A hook for before gateways are opened. Every five seconds they would tell the database of their own files, which a copy
 * of the journal lacks.
 */
export function withoutTicks(): () => void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  return () => void vi.useRealTimers()
}

/** A copy of the journal as it is now, of which the database knows nothing. */
export async function copyJournal({ gateway }: TestGateway): Promise<JournalPlace> {
  const place = gateway.context.continuity.place!
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of await readdir(place.folder))
    if (name.endsWith(JOURNAL)) await copyFile(join(place.folder, name), join(folder, `copy-${name}`))
  return { ...place, folder }
}

export async function entriesIn({ folder, sealing }: JournalPlace): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const read of readJournal(folder, sealing, new Map()))
    if ('entry' in read) entries.push(JSON.parse(read.entry) as Entry)
  return entries
}

/** A journal of these files, as of several processes. */
export async function writeJournal(place: JournalPlace, files: readonly (readonly Entry[])[]): Promise<JournalPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const entries of files) {
    const journal = await openJournal({ ...place, folder, history: 'a database' })
    await journal.append(entries.map((entry) => JSON.stringify(entry)))
    await journal.close()
  }
  return { ...place, folder }
}

/** Changes one character in the line of each of these documents. */
export async function damage(
  { folder, sealing }: JournalPlace,
  isMeant: (document: Document) => boolean,
): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(JOURNAL))) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n')
    let at = 0
    for await (const read of readJournal(folder, sealing, new Map())) {
      if (read.position.file !== name) continue
      at++
      if ('entry' in read && isMeant((JSON.parse(read.entry) as Entry).document))
        lines[at] = `${lines[at]![0] === 'A' ? 'B' : 'A'}${lines[at]!.slice(1)}`
    }
    await writeFile(join(folder, name), lines.join('\n'))
  }
}

type How = Partial<Pick<Context, 'primaryChain' | 'evmRegistry'>> & { accept?: boolean }

/** In the process of the gateway. */
export function replayFrom(place: JournalPlace, { gateway }: TestGateway, { accept = false, ...changes }: How = {}) {
  const { context: own } = gateway
  const context = { ...own, continuity: { ...own.continuity, place }, ...changes }
  return replay(context, { identity: 'a test' }, { reason: 'a test', accept })
}
