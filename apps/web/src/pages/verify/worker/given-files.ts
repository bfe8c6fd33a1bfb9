// The visitor's own files: each is hashed once as a stream, then compared with every checked bundle.

import { leafHash } from '@svc/protocol/merkle'
import { type ContentHash, hashContent } from '@svc/protocol/sha256'
import type { FileProblem, FileSource } from '@svc/verifier/check-files'
import type { BundleFiles } from './bundle-files.ts'
import type { CheckInput, ComparedFile, FileState, GivenFile, HashedFile, Step } from './messages.ts'

export async function hashFiles(
  files: readonly GivenFile[],
  signal: AbortSignal,
  report: (step: Step) => void,
): Promise<HashedFile[]> {
  const of = files.reduce((sum, { file }) => sum + file.size, 0)
  let done = 0
  const hashed: HashedFile[] = []
  for (const { path, file } of files) hashed.push({ path, content: await hashFile(file) })
  return hashed

  async function hashFile(file: File): Promise<ContentHash | null> {
    try {
      return await hashContent(pieces(file), Number.POSITIVE_INFINITY)
    } catch {
      // The file is a folder, or was moved or changed in the meantime.
      signal.throwIfAborted()
      return null
    }
  }

  async function* pieces(file: File): AsyncGenerator<Uint8Array> {
    const reader = file.stream().getReader()
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      signal.throwIfAborted()
      yield piece.value
      done += piece.value.length
      report({ done, of })
    }
  }
}

export interface GivenSource {
  source: FileSource
  /** The result for each file, the problems first. */
  end(isPartialBundle: boolean): ComparedFile[]
}

/** `listed` contains the files of the bundle that are known before the check. */
export function createGivenSource(
  { list, isComplete }: NonNullable<CheckInput['files']>,
  listed: BundleFiles,
): GivenSource {
  const paths = pathsAsListed(list, listed)
  const files = list.map(({ content }, i) => ({ path: paths[i] as string, content }))
  const byName = new Map(files.map((file) => [file.path, file]))
  const names = namesByContent(files, listed)
  const states = new Map<HashedFile, FileState>()
  // A complete folder is compared by name. Single files may have any name.
  if (!isComplete) for (const [file, name] of names) byName.set(name, file)

  const source: FileSource = {
    isPartial: !isComplete,
    open(filename) {
      const file = byName.get(filename)
      if (file && !file.content) throw new Error('it could not be read')
      return file?.content ?? null
    },
    names: () => files.map((file) => nameOf(file)),
    onChecked(filename, problem) {
      const file = byName.get(filename)
      if (file) states.set(file, stateOf(problem))
    },
  }

  function nameOf(file: HashedFile): string {
    return (isComplete ? undefined : names.get(file)) ?? file.path
  }

  return {
    source,
    end: (isPartialBundle) =>
      files
        .map((file): ComparedFile => {
          const { path, content } = file
          const name = names.get(file) ?? null
          if (name !== null) return { path, state: 'renamed', listedAs: name }
          const unlisted = isPartialBundle ? 'not_shown' : 'unlisted'
          return { path, state: states.get(file) ?? (content ? unlisted : 'unreadable'), listedAs: null }
        })
        .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)),
  }
}

const ORDER: readonly FileState[] = ['changed', 'unreadable', 'unlisted', 'renamed', 'not_shown', 'unchanged']

function stateOf(problem: FileProblem | null): FileState {
  if (problem === null) return 'unchanged'
  return problem === 'changed' ? 'changed' : 'unreadable'
}

/** The paths with or without the dropped folder, whichever has more matches in the bundle. */
function pathsAsListed(list: readonly HashedFile[], listed: BundleFiles): string[] {
  const whole = list.map(({ path }) => path)
  const [root] = whole[0]?.split('/') ?? []
  if (!whole.every((path) => path.startsWith(`${root}/`))) return whole
  const inside = whole.map((path) => path.slice((root as string).length + 1))
  return matches(list, whole, listed) > matches(list, inside, listed) ? whole : inside
}

function matches(list: readonly HashedFile[], paths: readonly string[], { held, leaves }: BundleFiles): number {
  let count = 0
  if (held.count > 0) {
    const wanted = new Set(paths)
    for (let i = 0; i < held.count; i++) if (wanted.has(held.filename(i))) count++
    return count
  }
  const wanted = new Set(
    list.flatMap(({ content }, i) => (content ? [leafHash({ filename: paths[i] as string, ...content })] : [])),
  )
  for (let i = 0; i < leaves.count; i++) if (wanted.has(leaves.at(i))) count++
  return count
}

/** The names of equal contents in the bundle, for files with unknown names. Each name is used once. */
function namesByContent(files: readonly HashedFile[], { held }: BundleFiles): Map<HashedFile, string> {
  const own = new Map(files.map((file) => [file.path, file]))
  const others = new Map(own)
  for (let i = 0; i < held.count; i++) others.delete(held.filename(i))
  const byHash = new Map<string, HashedFile[]>()
  for (const file of others.values()) {
    if (!file.content) continue
    const { content_hash } = file.content
    const same = byHash.get(content_hash)
    if (same) same.push(file)
    else byHash.set(content_hash, [file])
  }
  const names = new Map<HashedFile, string>()
  for (let i = 0; i < held.count && byHash.size > 0; i++) {
    const { filename, content_hash } = held.at(i)
    const file = own.has(filename) ? undefined : byHash.get(content_hash)?.pop()
    if (file) names.set(file, filename)
  }
  return names
}
