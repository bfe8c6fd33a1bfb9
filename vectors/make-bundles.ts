// `npm run vectors` writes the conformance pack, vectors/bundles/ and its index. The result is always the same: the
// repository keeps the digests of its files, which `--digests` rewrites.

import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { ANCHORS } from './pack/anchored.ts'
import { BAD_DOCUMENTS } from './pack/bad-documents.ts'
import { BAD_FILE_LISTS } from './pack/bad-file-lists.ts'
import { BAD_LOGS } from './pack/bad-logs.ts'
import { BAD_SIGNATURES } from './pack/bad-signatures.ts'
import { BAD_STATEMENTS } from './pack/bad-statements.ts'
import { type Case, expected } from './pack/case.ts'
import { CHAINS, LINKS } from './pack/chains.ts'
import { DISPUTED } from './pack/disputed.ts'
import { EDGES } from './pack/edges.ts'
import { FOLLOWED } from './pack/followed.ts'
import { LOG_EDGES } from './pack/log-edges.ts'
import { LOGGED } from './pack/logged.ts'
import { NODES } from './pack/nodes.ts'
import { PERIODS } from './pack/periods.ts'
import { BAD_REDACTED, REDACTED } from './pack/redacted.ts'
import { REDACTED_EDGES } from './pack/redacted-edges.ts'
import { REFUSED_KEYS } from './pack/refused-keys.ts'
import { REGISTERED } from './pack/registered.ts'
import { VALID } from './pack/valid.ts'
import { WEAK_KEYS } from './pack/weak-keys.ts'

const CASES = [
  ...VALID,
  ...BAD_FILE_LISTS,
  ...BAD_STATEMENTS,
  ...BAD_SIGNATURES,
  ...BAD_DOCUMENTS,
  ...ANCHORS,
  ...NODES,
  ...REGISTERED,
  ...LINKS,
  ...REDACTED,
  ...BAD_REDACTED,
  ...FOLLOWED,
  ...LOGGED,
  ...BAD_LOGS,
  ...EDGES,
  ...WEAK_KEYS,
  ...PERIODS,
  ...DISPUTED,
  ...REDACTED_EDGES,
  ...LOG_EDGES,
]

/** Every file of the pack by its name. */
export function makePack(): Map<string, Uint8Array> {
  const pack = new Map<string, Uint8Array>()
  for (const { name, document, rpc } of CASES) {
    if (document !== undefined) pack.set(`${name}.json`, bytesOf(document))
    if (rpc) pack.set(`${name}.rpc.json`, bytesOf(`${JSON.stringify(rpc, null, 1)}\n`))
  }
  const index = { cases: CASES.map(entryOf), chains: CHAINS, refused_keys: REFUSED_KEYS }
  pack.set('index.json', bytesOf(`${JSON.stringify(index, null, 1)}\n`))
  return pack
}

function entryOf(of: Case) {
  const given = { ...of.given, ...(of.rpc && { rpc: `${of.name}.rpc.json` }) }
  return { name: of.name, file: `${of.of ?? of.name}.json`, what: of.what, given, expect: expected(of) }
}

function bytesOf(document: NonNullable<Case['document']>): Uint8Array {
  if (document instanceof Uint8Array) return document
  return Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
}

/** The format that `sha256sum -c SHA256SUMS` reads in the folder above the pack. */
export function digestsOf(pack: ReadonlyMap<string, Uint8Array>): string {
  const lines = [...pack].map(
    ([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  bundles/${name}\n`,
  )
  return lines.toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join('')
}

if (import.meta.main) {
  const folder = new URL('bundles/', import.meta.url)
  const pack = makePack()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, bytes] of pack) writeFileSync(new URL(name, folder), bytes)
  if (process.argv.includes('--digests')) writeFileSync(new URL('SHA256SUMS', import.meta.url), digestsOf(pack))
}
