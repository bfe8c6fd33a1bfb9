// Makes a snapshot of the files that are read: leaves out absent files, cuts chunks, and passes them to the builder.
// Unchanged chunks of the previous snapshot are reused. Both the gateway's own thread and the threads for large lockers
// run this.

import { setImmediate } from 'node:timers/promises'
import type { ObjectKey } from '@svc/storage/provider'
import type { BuiltSnapshot, SnapshotBuilder } from './build-snapshot.ts'
import { type FileRows, keepRows } from './chunk-content.ts'
import { type Chunk, createChunkCutter, MAX_ROWS } from './cut-chunks.ts'
import { type PreviousChunk, type PreviousSnapshot, sameChunk } from './previous-snapshot.ts'
import type { LockerReading } from './read-files.ts'
import type { ListedFiles, NameRange, ObjectList } from './store.ts'

export interface Snapshot extends BuiltSnapshot {
  manifestVersion: number
  manifestFileCount: number
}

export interface SnapshotProgress {
  /** Called with the number of completed manifest entries. */
  onProgress?: ((entries: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Returns the ids of the objects that are not at their provider. Calls may overlap. */
export type FindAbsent = (objects: readonly ObjectKey[]) => Promise<ReadonlySet<string>>

type FindAbsentOf = (objects: ObjectList) => Promise<ReadonlySet<string>>

export function objectsOf({ ids, refs }: ObjectList): ObjectKey[] {
  return ids.split(',').map((id, i) => ({ id, ref: refs?.[i] ?? null }))
}

/** Closes the reading. Returns null if there is no file to attest. */
export async function makeSnapshot(
  reading: LockerReading,
  builder: SnapshotBuilder,
  findAbsent: FindAbsentOf,
  { onProgress, signal }: SnapshotProgress,
): Promise<Snapshot | null> {
  const { manifestVersion, borderKey, previous } = reading
  const cutter = createChunkCutter(borderKey)
  let manifestFileCount = 0
  let rowCount = 0

  async function add(chunks: readonly Chunk[], listed: number): Promise<void> {
    await builder.add(chunks)
    for (const chunk of chunks) rowCount += chunk.rowCount
    manifestFileCount += listed
    onProgress?.(manifestFileCount)
    // A page takes some milliseconds. Let other work run between pages.
    await setImmediate()
    signal?.throwIfAborted()
  }

  async function cutFiles(range: NameRange): Promise<void> {
    for await (const { listed, present } of ahead(pages(reading, range), (page) => leaveOutAbsent(page, findAbsent))) {
      await add(cutter.cut(present), listed)
    }
  }

  /** A stored chunk is reused only if the files before it end with a chunk, as they did before. */
  async function addComparison(compared: readonly Compared[]): Promise<void> {
    let same: Chunk[] = []
    let sameRows = 0
    let sameListed = 0
    const addSame = async () => {
      if (same.length > 0) await add(same, sameListed)
      same = []
      sameRows = 0
      sameListed = 0
    }
    for (const { before, content, now, isComplete } of compared) {
      const chunk = isComplete && cutter.isAtBorder() ? sameChunk(before, content, now, rowCount + sameRows) : null
      if (chunk) {
        same.push(chunk)
        sameRows += chunk.rowCount
        sameListed += now.listed
      } else {
        await addSame()
        await cutFiles(before)
      }
    }
    await addSame()
  }

  try {
    if (previous) for await (const compared of comparisons(reading, previous, findAbsent)) await addComparison(compared)
    await cutFiles({ from: previous?.lastFrom ?? '', before: null })
  } finally {
    await reading.close()
  }
  await builder.add(cutter.end())
  const built = await builder.end()
  return built && { ...built, manifestVersion, manifestFileCount }
}

/** Larger pages are not read faster, and survive the cheap part of garbage collection. */
const PAGE = 1000

async function* pages(reading: LockerReading, range: NameRange): AsyncGenerator<ListedFiles> {
  for (let rest = range; ; ) {
    const [page] = (await reading.read([rest], PAGE)) as [ListedFiles]
    yield page
    if (page.last === null || page.listed < PAGE) return
    rest = { ...range, from: page.last, except: page.last }
  }
}

interface Compared {
  before: PreviousChunk
  /** Null if the stored chunk is missing. */
  content: string | null
  now: ListedFiles
  /** Whether the bytes of all its files are present. */
  isComplete: boolean
}

/** About as many files as in a page. */
const CHUNKS_AT_ONCE = 16

/** All chunks of the previous snapshot except the last. */
function comparisons(
  reading: LockerReading,
  previous: PreviousSnapshot,
  findAbsent: FindAbsentOf,
): AsyncGenerator<Compared[]> {
  async function* readings() {
    for (let first = 0; first < previous.closedChunks; first += CHUNKS_AT_ONCE) {
      const count = Math.min(CHUNKS_AT_ONCE, previous.closedChunks - first)
      const chunks = Array.from({ length: count }, (_, i) => previous.chunk(first + i))
      const contents = await reading.storedChunks(chunks.map(({ id }) => id))
      yield { chunks, contents, now: await reading.read(chunks, MAX_ROWS + 1) }
    }
  }
  return ahead(readings(), async ({ chunks, contents, now }) => {
    const absent = await absentOf(
      now.map(({ objects }) => objects),
      findAbsent,
    )
    return chunks.map((before, i) => {
      const files = now[i] as ListedFiles
      const isComplete = absent.size === 0 || !objectsOf(files.objects).some(({ id }) => absent.has(id))
      return { before, content: contents.get(before.id) ?? null, now: files, isComplete }
    })
  })
}

const NONE: ReadonlySet<string> = new Set()

async function absentOf(lists: readonly ObjectList[], findAbsent: FindAbsentOf): Promise<ReadonlySet<string>> {
  const some = lists.filter(({ ids }) => ids !== '')
  if (some.length === 0) return NONE
  const hasRefs = some.some(({ refs }) => refs !== null)
  return findAbsent({
    ids: some.map(({ ids }) => ids).join(),
    refs: hasRefs ? some.flatMap((list) => objectsOf(list).map(({ ref }) => ref)) : null,
  })
}

interface PresentPage {
  /** How many entries the page has, confirmed or not. */
  listed: number
  /** The confirmed entries whose bytes are present (MERK-21, ATT-20). */
  present: FileRows
}

async function leaveOutAbsent(page: ListedFiles, findAbsent: FindAbsentOf): Promise<PresentPage> {
  const { listed, objects } = page
  const absent = await absentOf([objects], findAbsent)
  if (absent.size === 0) return { listed, present: page }
  const ids = objects.ids.split(',')
  return { listed, present: keepRows(page, (index) => !absent.has(ids[index] as string)) }
}

/** How many pages are checked for absent objects while one is processed. */
const PAGES_AHEAD = 3

async function* ahead<Page, Checked>(
  pages: AsyncIterable<Page>,
  check: (page: Page) => Promise<Checked>,
): AsyncGenerator<Checked> {
  const checks: Promise<Checked>[] = []
  for await (const page of pages) {
    const checked = check(page)
    // It is awaited later. Without this, a failure before then would be an unhandled rejection.
    checked.catch(() => {})
    checks.push(checked)
    if (checks.length > PAGES_AHEAD) yield (await checks.shift()) as Checked
  }
  for (const checked of checks) yield await checked
}
