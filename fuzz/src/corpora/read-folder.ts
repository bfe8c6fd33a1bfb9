// A folder of external corpora → cases. Files are recognized by their content; a few by their path.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fromUtf8 } from '@svc/protocol/bytes'
import { type Corpora, emptyCorpora } from './cases.ts'
import { addCanonical, isOutput } from './shapes/canonical.ts'
import type { CorpusFile } from './shapes/file.ts'
import { addJsonText, addJsonTexts, isJsonText } from './shapes/json-texts.ts'
import { addLines } from './shapes/lines.ts'
import { addList } from './shapes/lists.ts'
import { addTree, isTree } from './shapes/trees.ts'
import { addWycheproof } from './shapes/wycheproof.ts'

const LEFT_OUT = ['.git', 'node_modules']
/** Node reads no file larger than two of these. */
const MAX_BYTES = 2 ** 28

/** A folder, or a single file. */
export async function readCorpora(folder: string): Promise<Corpora> {
  const corpora = emptyCorpora()
  const given = await stat(folder)
  const entries = given.isFile() ? [] : await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
  const links = paths.filter(({ entry }) => !entry.isFile() && !entry.isDirectory()).map(({ path }) => path)
  const files = given.isFile() ? [folder] : paths.filter(({ entry }) => entry.isFile()).map(({ path }) => path)
  const nameOf = (path: string) => (given.isFile() ? path : relative(folder, path))
  const all = new Set(files)
  for (const path of files.sort()) {
    const name = nameOf(path)
    if (LEFT_OUT.some((left) => name.split(sep).includes(left))) continue
    const unread = (why: string) => void corpora.unread.push(`${name}: ${why}`)
    try {
      if ((await stat(path)).size > MAX_BYTES) throw new Error(`longer than ${MAX_BYTES} bytes`)
      await addFile(corpora, { path, name, bytes: await readFile(path), has: (other) => all.has(other), unread })
    } catch (error) {
      unread(`cannot be read: ${(error as Error).message}`)
    }
  }
  const left = LEFT_OUT.filter((name) => files.some((path) => nameOf(path).split(sep).includes(name)))
  corpora.unread.push(...links.map((path) => `${nameOf(path)}: neither a file nor a folder`))
  corpora.unread.push(...left.map((name) => `${name}: folders of this name are left out`))
  return corpora
}

async function addFile(corpora: Corpora, file: CorpusFile): Promise<void> {
  const text = fromUtf8(file.bytes)
  const document = text === null ? undefined : parsed(text)
  if (isJsonText(file)) return addJsonText(file, corpora)
  // Read together with its input.
  if (isOutput(file)) return
  if (await addCanonical(file, corpora)) return
  if (document === undefined) return addLines(file, text, corpora)
  if (Array.isArray(document)) return addList(file, document, corpora)
  const fields = Object(document) as Record<string, unknown>
  if (Array.isArray(fields.testGroups)) return addWycheproof(file, fields, corpora)
  if (isTree(fields)) return addTree(file.name, fields, corpora)
  addJsonTexts(file, fields, corpora)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
