// Parts as separate objects beside the object, which the store combines without a copy. Each write has its own name, so
// that a part may be written again. Parts are accepted while a mark exists beside them: it is removed before the parts,
// and a write that does not find it at its end removes its part itself.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { forEachParallel, slices } from '../absent.ts'
import { MAX_PARTS, startsOf, totalSize } from '../part-slots.ts'
import {
  type CompletedParts,
  type ObjectParts,
  type PartsUpload,
  ProviderError,
  type WrittenPart,
} from '../provider.ts'
import { listNames } from './absent.ts'
import type { GcsBucket } from './bucket.ts'
import { writeObject } from './write.ts'

/** Each part costs two operations and one deletion, which is not worth it for smaller parts. */
const MIN_PART_BYTES = 1024 * 1024
/** The limit of the store. */
const COMPOSED_AT_ONCE = 32
const REMOVED_AT_ONCE = 16

export function gcsParts(bucket: GcsBucket, nameOf: (id: string) => string): ObjectParts {
  return {
    accepts: (partBytes) => partBytes >= MIN_PART_BYTES,
    async begin(id, { contentType }) {
      const mark = markOf(nameOf(id))
      await writeObject(bucket, mark, Readable.from([]), { contentType, size: 0 }).catch(async (error) => {
        // Another gateway may have begun too.
        if (!(await bucket.find(mark))) throw error
      })
      return ''
    },
    async write({ id, contentType }, { index, size }, bytes) {
      const mark = markOf(nameOf(id))
      if (index >= MAX_PARTS || !(await bucket.find(mark))) return null
      const ref = `${index}-${randomUUID()}`
      const part = partName(nameOf(id), ref)
      await writeObject(bucket, part, bytes, { contentType, size })
      if (await bucket.find(mark)) return ref
      await bucket.remove(part)
      throw new ProviderError('unavailable', 'the object accepts no more parts')
    },
    discard: (id, ref) => bucket.remove(partName(nameOf(id), ref)),
    complete: (upload, parts) => complete(bucket, nameOf(upload.id), upload, parts),
  }
}

const partName = (name: string, ref: string) => `${name}.${ref}`
const markOf = (name: string) => partName(name, 'open')

async function complete(
  bucket: GcsBucket,
  name: string,
  { contentType }: PartsUpload,
  parts: readonly WrittenPart[],
): Promise<CompletedParts | null> {
  const size = totalSize(parts)
  const before = await bucket.find(name)
  const hasAll = before !== null || (await composeAll(bucket, name, contentType, parts))
  // Parts are also missing when another gateway has created the object meanwhile.
  const found = before ?? (await bucket.find(name))
  if (!found && !hasAll) return null
  if (found?.size !== size) throw new ProviderError('unavailable', 'the store created a wrong object from the parts')
  await removeParts(bucket, name)
  return { size, ref: null, isExact: true, starts: startsOf(parts) }
}

/** False when a part is missing. */
async function composeAll(
  bucket: GcsBucket,
  name: string,
  contentType: string,
  parts: readonly WrittenPart[],
): Promise<boolean> {
  let sources = parts.map(({ ref }) => partName(name, ref))
  for (let level = 0; sources.length > COMPOSED_AT_ONCE; level++) {
    const groups = [...slices(sources, COMPOSED_AT_ONCE)]
    sources = groups.map((_, i) => partName(name, `joined-${level}-${i}`))
    for (const [i, group] of groups.entries()) {
      if (!(await compose(bucket, sources[i]!, contentType, group, {}))) return false
    }
  }
  return compose(bucket, name, contentType, sources, { ifGenerationMatch: '0' })
}

async function compose(
  bucket: GcsBucket,
  name: string,
  contentType: string,
  sources: readonly string[],
  condition: Record<string, string>,
): Promise<boolean> {
  const [path, query] = bucket.url('storage', name, condition).split('?') as [string, string]
  const body = { sourceObjects: sources.map((source) => ({ name: source })), destination: { contentType } }
  const headers = { 'content-type': 'application/json; charset=UTF-8' }
  const request = { method: 'POST', url: `${path}/compose?${query}`, headers, body: Buffer.from(JSON.stringify(body)) }
  // 412: an earlier attempt succeeded, and its answer was lost.
  const { status } = await bucket.ask(request, [404, 412])
  return status !== 404
}

/** Removes the parts of the object and the intermediate objects. False when there were none. */
export async function removeParts(bucket: GcsBucket, name: string): Promise<boolean> {
  await bucket.remove(markOf(name))
  for (let existed = false; ; ) {
    const { names, isLast } = await listNames(bucket, { prefix: `${name}.` })
    await forEachParallel(names, REMOVED_AT_ONCE, (part) => bucket.remove(part))
    existed ||= names.length > 0
    if (isLast) return existed
  }
}
