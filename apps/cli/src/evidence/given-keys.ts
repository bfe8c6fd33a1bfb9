// The keys that a bundle is checked against: the keys in --keys, or else the keys pinned for the gateway.

import { readFile, stat } from 'node:fs/promises'
import { type ListedChanges, NOTHING_LISTED, type PinnedKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { UsageError } from '../errors.ts'
import { durationText } from '../output/quantities.ts'
import type { Session } from '../session.ts'
import { type ReadPins, readPins } from '../setup/pinned.ts'

export interface GivenKeys {
  pinnedKeys: PinnedKey[]
  listed: ListedChanges
  /** The gateway that they were pinned for; null if unknown. */
  audience: string | null
  pinnedSigners: string[]
  domainTag: string | null
  /** The source and the age of the keys, as text for users. */
  from: string | null
}

export async function givenKeys(session: Session, words: readonly string[]): Promise<GivenKeys> {
  if (words.length === 0) return pinnedFor(await readPins(session.folder, session.gateway), session.host.now())
  const read = await Promise.all(words.map((word) => keysOf(word, session.host.now())))
  return {
    pinnedKeys: read.flatMap(({ keys }) => keys),
    listed: {
      changes: {
        endorsements: read.flatMap(({ changes }) => changes.endorsements),
        revocations: read.flatMap(({ changes }) => changes.revocations),
      },
      recovery: read.flatMap(({ recovery }) => recovery),
      logs: read.flatMap(({ logs }) => logs),
    },
    audience: null,
    pinnedSigners: [],
    domainTag: null,
    from: [...new Set(read.map(({ from }) => from))].join(', '),
  }
}

const NOTHING = {
  pinnedKeys: [],
  listed: NOTHING_LISTED,
  audience: null,
}

function pinnedFor(pins: ReadPins | null, now: number): GivenKeys {
  if (!pins) return { ...NOTHING, pinnedSigners: [], domainTag: null, from: null }
  const { gateway, pinned_at, anchor_signer, domain_tag, file, read, listed } = pins
  return {
    pinnedKeys: read,
    listed,
    audience: gateway,
    pinnedSigners: anchor_signer === null ? [] : [anchor_signer],
    domainTag: domain_tag,
    from: `pinned ${ago(Date.parse(pinned_at), now)} for ${gateway} (${file})`,
  }
}

/** A word is a key in hex or the path of a file with keys. */
async function keysOf(word: string, now: number): Promise<{ keys: PinnedKey[]; from: string } & ListedChanges> {
  const isKey = /^[0-9a-f]{64}$/i.test(word) || word.startsWith('ed25519:')
  const text = isKey ? word.toLowerCase() : await textOf(word)
  const read = readPinnedKeys(text)
  if (!read.ok) throw new UsageError(isKey ? read.problem : `${word}: ${read.problem}`)
  if (isKey) return { ...read, from: 'given by --keys' }
  return { ...read, from: `given by ${word}, written ${ago((await stat(word)).mtimeMs, now)}` }
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === 'ENOENT' ? `${JSON.stringify(path)} is neither a key in hex nor a file` : error.message,
    )
  })
}

function ago(time: number, now: number): string {
  return `${durationText((now - time) / 1000)} ago`
}
