import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { writable } from '@svc/devnet/writable'
import { createPublished, type PublishedLog } from '@svc/gateway/publication/log/published'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { EMPTY_FRONTIER, type Frontier, grow, rootOf } from '@svc/protocol/transparency/frontier'
import { isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { formatProof, isProvenEntry, readProof } from '@svc/protocol/transparency/proof'
import { proveInclusion } from '@svc/protocol/transparency/prove'
import { tilePath } from '@svc/protocol/transparency/tiles'
import { leafHash } from '@svc/protocol/transparency/tree'
import { openFolderFiles } from '@svc/storage/local/files'
import { compareSeconds, type Row } from './row.ts'
import { countText, scaled } from './scale.ts'

const STATEMENTS = 10_000
const SIZES = { small: 1000, large: scaled(1_000_000, 200_000) }
const PROOFS = scaled(2000, 200)
const CHECKS = 500
const PAGE = 65_536

const signer = ed25519Signer(new Uint8Array(32).fill(7))
const key: NoteKey = { name: 'bench.example/log', type: 'log', publicKey: signer.publicKey }

/** The transparency log: adding statements, and proving that one is included. */
export async function logRows(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-log-'))
  try {
    const small = await syntheticLog(join(folder, 'small'), SIZES.small)
    const large = await syntheticLog(join(folder, 'large'), SIZES.large)
    return [await publishRow(), await proofRow(small, large), await checkRow(large)]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function publishRow(): Promise<Row> {
  const gateway = await startTestGateway()
  const { db } = gateway.context.database
  const rows = Array.from({ length: STATEMENTS }, (_, i) => ({
    receipt_id: `rcpt_${i}`,
    sequence: 1,
    locker_id: 'locker',
    snapshot_key: 'snapshot',
    statement_digest: toHex(randomBytes(32)),
    record: '{}',
    anchor: null,
    issued_at: 1,
  }))
  const begun = performance.now()
  for (let i = 0; i < rows.length; i += 500) {
    await writable(db)
      .insertInto('statements')
      .values(rows.slice(i, i + 500))
      .execute()
  }
  const inserted = performance.now()
  await gateway.context.publishLog()
  const published = performance.now()
  await gateway.stop()
  const rate = STATEMENTS / ((published - inserted) / 1000)
  const baseline = STATEMENTS / ((inserted - begun) / 1000)
  return {
    what: `statements added to the log, ${countText(STATEMENTS)} at once`,
    measured: `${rate.toFixed(0)} per second`,
    against: `writing the rows of the statements: ${baseline.toFixed(0)} per second`,
    ratio: rate / baseline,
    goal: { atLeast: 0.1 },
  }
}

/** A log whose tiles contain made-up hashes: a proof costs the same. */
async function syntheticLog(
  folder: string,
  size: number,
): Promise<{ log: PublishedLog; size: number; first: Uint8Array }> {
  const first = utf8('the first entry')
  let frontier: Frontier = EMPTY_FRONTIER
  while (frontier.size < size) {
    const leaves = Array.from({ length: Math.min(PAGE, size - frontier.size) }, () => randomBytes(32) as Uint8Array)
    if (frontier.size === 0) leaves[0] = leafHash(first)
    const grown = grow(frontier, leaves)
    for (const tile of grown.tiles) {
      const path = join(folder, tilePath(tile))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, tile.bytes)
    }
    frontier = grown.frontier
  }
  writeFileSync(join(folder, 'checkpoint'), await signCheckpoint(key, { size, root: rootOf(frontier) }, signer.sign))
  return { log: createPublished(openFolderFiles(folder), key), size, first }
}

type Synthetic = Awaited<ReturnType<typeof syntheticLog>>

async function cpuMillisecondsOfProof({ log, size }: Synthetic): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < PROOFS; i++) await proveInclusion(Math.floor(Math.random() * size), size, log.coveredTile)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / PROOFS
}

async function proofRow(small: Synthetic, large: Synthetic): Promise<Row> {
  const before = await cpuMillisecondsOfProof(small)
  const after = await cpuMillisecondsOfProof(large)
  return {
    what: `inclusion proof in a log of ${countText(SIZES.large)} statements`,
    measured: `${after.toFixed(2)} ms of CPU`,
    against: `1 ms; ${countText(SIZES.small)} statements: ${before.toFixed(2)} ms`,
    ratio: after,
    goal: { atMost: 1 },
  }
}

/** The check of a log proof in an offline verification of a bundle. */
async function checkRow({ log, size, first }: Synthetic): Promise<Row> {
  const { text, note } = (await log.newest())!
  const proof = formatProof(0, await proveInclusion(0, size, log.coveredTile), text)
  const verifier = ed25519PublicKey(key.publicKey)!
  const [signature] = note.signatures
  const check = () => {
    const read = readProof(proof)
    if (typeof read === 'string' || !isProvenEntry(read, first) || !isSignedBy(read.checkpoint.note, key))
      throw new Error('the proof is invalid')
  }
  const bare = () => void verifier.verify(utf8(note.text), signature!.signature)
  const repeat = (work: () => void) => () => {
    for (let i = 0; i < CHECKS; i++) work()
  }
  const { ours, theirs } = compareSeconds(5, repeat(check), repeat(bare))
  return {
    what: 'a proof of the log checked offline',
    measured: `${((ours / CHECKS) * 1000).toFixed(2)} ms`,
    against: `1 ms; the signature of its checkpoint alone: ${((theirs / CHECKS) * 1000).toFixed(2)} ms`,
    ratio: (ours / CHECKS) * 1000,
    goal: { atMost: 1 },
  }
}
