// Copies, reads, writes and damages the journal of a gateway.

import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOURNAL } from '@svc/database/journal/folder'
import { openJournal, readJournal } from '@svc/database/journal/journal'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { onTestFinished, vi } from 'vitest'
import type { Context } from '../../../../src/context.ts'
import type { Document, Entry } from '../../../../src/continuity/documents.ts'
import type { JournalLocation } from '../../../../src/continuity/missing.ts'
import { replay } from '../../../../src/views/admin/replay/replay.ts'

/**
 * A hook to run before gateways are opened: stops their timers. Every five seconds a gateway registers its own journal
 * files in the database, and a copy of the journal lacks them.
 */
export function withoutTicks(): () => void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  return () => void vi.useRealTimers()
}

/** A copy of the journal in its present state; the database does not know its files. */
export async function copyJournal({ gateway }: TestGateway): Promise<JournalLocation> {
  const location = gateway.context.continuity.location!
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of await readdir(location.folder))
    if (name.endsWith(JOURNAL)) await copyFile(join(location.folder, name), join(folder, `copy-${name}`))
  return { ...location, folder }
}

export async function entriesIn({ folder, sealing }: JournalLocation): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const read of readJournal(folder, sealing, new Map()))
    if ('entry' in read) entries.push(JSON.parse(read.entry) as Entry)
  return entries
}

/** A journal of these files, as several processes would write it. */
export async function writeJournal(
  location: JournalLocation,
  files: readonly (readonly Entry[])[],
): Promise<JournalLocation> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const entries of files) {
    const journal = await openJournal({ ...location, folder, history: 'a database' })
    await journal.append(entries.map((entry) => JSON.stringify(entry)))
    await journal.close()
  }
  return { ...location, folder }
}

/** Changes one character in the line of each of these documents. */
export async function damage(
  { folder, sealing }: JournalLocation,
  isTarget: (document: Document) => boolean,
): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(JOURNAL))) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n')
    let at = 0
    for await (const read of readJournal(folder, sealing, new Map())) {
      if (read.position.file !== name) continue
      at++
      if ('entry' in read && isTarget((JSON.parse(read.entry) as Entry).document))
        lines[at] = `${lines[at]![0] === 'A' ? 'B' : 'A'}${lines[at]!.slice(1)}`
    }
    await writeFile(join(folder, name), lines.join('\n'))
  }
}

type ReplayChanges = Partial<Pick<Context, 'primaryChain' | 'evmRegistry'>> & { accept?: boolean }

/** Replays a journal in this process, with the gateway's context. */
export function replayFrom(
  location: JournalLocation,
  { gateway }: TestGateway,
  { accept = false, ...changes }: ReplayChanges = {},
) {
  const { context: own } = gateway
  const context = { ...own, continuity: { ...own.continuity, location }, ...changes }
  return replay(context, { identity: 'a test' }, { reason: 'a test', accept })
}
