// The pages that `apps/web` builds. A file is read on its first request and cached: most browsers accept the same
// compressed form, and all forms of all files take 6 MB.

import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

export interface BuiltPages {
  /** The version of the software that built them. */
  version: string
  /** The same document serves all of them. */
  pages: readonly DeclaredPage[]
  html: string
  /** By name. */
  assets: ReadonlyMap<string, Asset>
  /** The verify page as a single file; null in builds of earlier releases. */
  savedCopy: { asset: Asset; sha256: string } | null
}

export interface DeclaredPage {
  /** A path such as `/locker/{locker_id}`. */
  path: string
  /** Directives that differ from the default policy. */
  policy?: Readonly<Record<string, string>>
}

export interface Asset {
  contentType: string
  plain: ReadAsset
  /** By content coding, best first. */
  compressed: readonly (readonly [coding: string, read: ReadAsset])[]
}

type ReadAsset = () => Buffer

/** The build's description of itself. */
interface NewestBuild {
  version: string
  folder: string
  /** Absent in builds of earlier releases. */
  pages?: DeclaredPage[]
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
}

/** Null when nothing was built. */
export function readBuiltPages(folder: string): BuiltPages | null {
  const manifest = join(folder, 'newest.json')
  if (!existsSync(manifest)) return null
  const { version, folder: build, pages = [] }: NewestBuild = JSON.parse(readFileSync(manifest, 'utf8'))
  const assets = join(folder, build, 'assets')
  const names = readdirSync(assets).filter((name) => extname(name) in TYPES && extname(name) !== '.html')
  return {
    version,
    pages,
    html: readFileSync(join(folder, build, 'index.html'), 'utf8'),
    assets: new Map(names.map((name) => [name, assetOf(join(assets, name))])),
    savedCopy: readSavedCopy(join(folder, build, 'verify.html')),
  }
}

function readSavedCopy(file: string): BuiltPages['savedCopy'] {
  if (!existsSync(file)) return null
  return { asset: assetOf(file), sha256: hash('sha256', readFileSync(file)) }
}

function assetOf(file: string): Asset {
  const codings = [
    ['br', `${file}.br`],
    ['gzip', `${file}.gz`],
  ] as const
  return {
    contentType: TYPES[extname(file)] as string,
    plain: readOnce(file),
    compressed: codings.filter(([, path]) => existsSync(path)).map(([coding, path]) => [coding, readOnce(path)]),
  }
}

function readOnce(file: string): ReadAsset {
  let bytes: Buffer | null = null
  return () => {
    bytes ??= readFileSync(file)
    return bytes
  }
}
