// Publishes the log: waiting statements get their positions, the tree grows, and a checkpoint covers it. Every step
// follows from the contents of the database and the published log, so the next run completes an interrupted one with
// the same bytes (T-114).

import { inParallel } from '@svc/concurrency/parallel'
import { singleFlight } from '@svc/concurrency/sharing'
import { equalBytes, fromHex, toHex, utf8 } from '@svc/protocol/bytes'
import { signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { EMPTY_FRONTIER, type Frontier, grow, readFrontier, rootOf } from '@svc/protocol/transparency/frontier'
import { formatNote, signaturesOf } from '@svc/protocol/transparency/note'
import { entryBundle, TILE_WIDTH, tilePath, tileWidth } from '@svc/protocol/transparency/tiles'
import { leafHash } from '@svc/protocol/transparency/tree'
import type { NamedFiles } from '@svc/storage/named-files'
import { type Context, unixNow } from '../../context.ts'
import type { Db, LogCheckpointTable } from '../../db/schema.ts'
import { findGap } from './compare.ts'
import type { LogIdentity } from './identity.ts'
import { CHECKPOINT, type PublishedCheckpoint, type PublishedLog, TileMissing } from './published.ts'
import {
  asWriter,
  countPlaced,
  entriesBetween,
  findLog,
  isAnyWaiting,
  newestCheckpoint,
  placeWaiting,
  recordCheckpoint,
} from './store.ts'
import type { Witnesses } from './witnesses/witnesses.ts'

export interface PublishParts extends Pick<Context, 'log' | 'now'> {
  database: Pick<Context['database'], 'db' | 'commit'>
  continuity: Pick<Context['continuity'], 'requireCurrent' | 'compareAgain' | 'catchUp'>
  files: NamedFiles
  published: PublishedLog
  identity: Pick<LogIdentity, 'key' | 'signer'>
  witnesses: Pick<Witnesses, 'areDue' | 'ask' | 'cosigned'>
}

/** Resolves to whether there may be more to publish. */
export type Publish = () => Promise<boolean>

/** The most entries that one checkpoint adds and that are in memory at the same time. */
const MAX_BATCH = 10_000
const WRITES_AT_ONCE = 16

export function createPublish(parts: PublishParts): Publish {
  const { db, commit } = parts.database
  const { files, published, identity, witnesses, continuity, log } = parts
  const share = singleFlight<boolean>()
  /** The frontier that this process published last. */
  let known: Frontier = EMPTY_FRONTIER

  async function run(): Promise<boolean> {
    if (!(await hasWork())) return false
    let isMore = false
    await asWriter(db, async () => {
      isMore = await publishNext()
    })
    return isMore
  }

  async function hasWork(): Promise<boolean> {
    const recorded = await newestCheckpoint(db)
    const shown = await published.checkpoint()
    if (recorded && (await witnesses.cosigned(recorded)) !== shown?.text) return true
    if (!recorded && shown) return true
    if (identity.signer === null) return false
    if ((await isAnyWaiting(db)) || (await countPlaced(db)) > (recorded?.size ?? 0)) return true
    return recorded !== null && witnesses.areDue(recorded)
  }

  async function publishNext(): Promise<boolean> {
    await continuity.requireCurrent()
    if (await findGap(db, published)) {
      continuity.compareAgain()
      return false
    }
    // Everything published must be in the journal first.
    await continuity.catchUp()
    const shown = await published.newest()
    const frontier = await finishRecorded(shown, await frontierOf(shown))
    if (!identity.signer || !(await isOwnLog())) return false
    const placed = await placeEntries()
    // More statements may have been signed since.
    await continuity.catchUp()
    if (placed === frontier.size) {
      await askAgain()
      return false
    }
    const size = Math.min(placed, frontier.size + MAX_BATCH)
    const next = await extend(frontier, size)
    const root = rootOf(next)
    const note = await signCheckpoint(identity.key, { size, root }, identity.signer.sign)
    const recorded = await record({ size, root: toHex(root), note, signed_at: unixNow(parts) })
    await witnesses.ask(recorded)
    await show(frontier, next, recorded)
    return placed > size || isAnyWaiting(db)
  }

  /** Asks witnesses that did not answer in time. The next run publishes their answers. */
  async function askAgain(): Promise<void> {
    const recorded = await newestCheckpoint(db)
    if (recorded) await witnesses.ask(recorded)
  }

  /** Publishes what is already recorded: by an interrupted run, or into a folder that lags behind. */
  async function finishRecorded(shown: PublishedCheckpoint | null, frontier: Frontier): Promise<Frontier> {
    // The database may be from before its last checkpoint was recorded, but have all entries.
    if (shown) await record({ ...shown, root: toHex(shown.root), note: ownNote(shown), signed_at: unixNow(parts) })
    const recorded = await newestCheckpoint(db)
    if (!recorded || (recorded.size === frontier.size && (await witnesses.cosigned(recorded)) === shown?.text))
      return frontier
    const next = await extend(frontier, recorded.size)
    if (toHex(rootOf(next)) !== recorded.root)
      throw new Error('the entries of the log do not match the signed checkpoint')
    await show(frontier, next, recorded)
    return next
  }

  /** Empty if the stored tiles do not match the checkpoint: then all are written again. */
  async function frontierOf(shown: PublishedCheckpoint | null): Promise<Frontier> {
    if (!shown) return EMPTY_FRONTIER
    if (known.size === shown.size && equalBytes(rootOf(known), shown.root)) return known
    try {
      const frontier = await readFrontier(shown.size, published.coveredTile)
      if (equalBytes(rootOf(frontier), shown.root)) return frontier
    } catch (error) {
      if (!(error instanceof TileMissing)) throw error
    }
    log.error('the published tiles do not match the checkpoint: all are written again from the database')
    return EMPTY_FRONTIER
  }

  function ownNote({ note }: PublishedCheckpoint): string {
    return formatNote({ ...note, signatures: signaturesOf(note, identity.key) })
  }

  /** Another process may have fixed another key before the first checkpoint, or another log may have started since. */
  async function isOwnLog(tx: Db = db): Promise<boolean> {
    const log = await findLog(tx)
    return log?.public_key_hex === toHex(identity.key.publicKey) && log.origin === identity.key.name
  }

  async function placeEntries(): Promise<number> {
    return commit(async (tx) => {
      await placeWaiting(tx, await countPlaced(tx), MAX_BATCH)
      return countPlaced(tx)
    })
  }

  /** Writes the tiles and entries up to a size. Clients read them only after a checkpoint covers them. */
  async function extend(from: Frontier, size: number): Promise<Frontier> {
    let frontier = from
    while (frontier.size < size) {
      const end = Math.min(frontier.size + MAX_BATCH, size)
      const start = frontier.size - (frontier.size % TILE_WIDTH)
      const entries = (await entriesBetween(db, start, end)).map((digest) => fromHex(digest, 32) as Uint8Array)
      if (entries.length !== end - start) throw new Error('the database lacks entries of the log')
      const grown = grow(frontier, entries.slice(frontier.size - start).map(leafHash))
      await inParallel(grown.tiles, WRITES_AT_ONCE, async (tile) => {
        await files.write(tilePath(tile), tile.bytes)
        if (tile.level > 0) return
        const first = tile.index * TILE_WIDTH - start
        const bundle = entryBundle(entries.slice(first, first + tile.width))
        await files.write(tilePath({ ...tile, level: 'entries' }), bundle)
      })
      frontier = grown.frontier
    }
    return frontier
  }

  /** Each size has only one root, permanently. */
  async function record(checkpoint: LogCheckpointTable): Promise<LogCheckpointTable> {
    const { size, root, note, signed_at } = checkpoint
    const recorded = await commit(async (tx, recordDocument) => {
      recordDocument({ kind: 'checkpoint', key: `${size}` })
      if (!(await isOwnLog(tx))) throw new Error('another log has started in this database: restart the gateway')
      return recordCheckpoint(tx, { size, root, note, signed_at })
    })
    if (recorded.root === root) return recorded
    throw new Error(`the log has signed another root at size ${size}: nothing is published`)
  }

  async function show(before: Frontier, next: Frontier, recorded: LogCheckpointTable): Promise<void> {
    await files.write(CHECKPOINT, utf8(await witnesses.cosigned(recorded)))
    known = next
    await published.newest()
    await removeStale(before, next)
  }

  /** Removes partial tiles that wider ones replace. A wider tile begins with the same bytes. */
  async function removeStale(before: Frontier, next: Frontier): Promise<void> {
    const stale = before.levels.flatMap((hashes, level) => {
      const index = Math.floor(before.size / TILE_WIDTH ** (level + 1))
      const tile = { level, index, width: hashes.length }
      if (hashes.length === 0 || tileWidth(next.size, level, index) === hashes.length) return []
      return level === 0 ? [tile, { ...tile, level: 'entries' as const }] : [tile]
    })
    await inParallel(stale, WRITES_AT_ONCE, (tile) => files.remove(tilePath(tile)))
  }

  return () => share('', run)
}
