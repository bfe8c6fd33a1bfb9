// The built pages are under `apps/web/dist`: a folder for each build, and a record of the newest build with its inputs.
// This module does not load the bundler, so a start with fresh pages takes a few milliseconds.

import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const WEB = fileURLToPath(new URL('..', import.meta.url))
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DIST = join(WEB, 'dist')

export interface NewestBuild {
  version: string
  folder: string
  /** The declared path of each page, and the differences of its policy from the default. */
  pages: readonly { path: string; policy?: Readonly<Record<string, string>> }[]
  /** File, relative to the root of the repository → hash of its content. */
  inputs: Readonly<Record<string, string>>
}

/** Builds the pages unless they are fresh. Returns whether they are there. */
export async function ensurePages(say: (text: string) => void): Promise<boolean> {
  if (isFresh(newestBuild())) return true
  say('Building the web pages (a few seconds, once after each change)…')
  const builder = fileURLToPath(new URL('./build-pages.ts', import.meta.url))
  try {
    await promisify(execFile)(process.execPath, [builder, DIST])
    return true
  } catch (error) {
    say(`The web pages could not be built; everything else works.\n${(error as { stderr?: string }).stderr ?? error}`)
    return false
  }
}

export function newestBuild(): NewestBuild | null {
  const note = join(DIST, 'newest.json')
  return existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as NewestBuild) : null // written by the build
}

function isFresh(build: NewestBuild | null): boolean {
  if (!build || !existsSync(join(DIST, build.folder))) return false
  return Object.entries(build.inputs).every(([file, content]) => {
    const path = join(ROOT, file)
    return existsSync(path) && contentHash(path) === content
  })
}

export function contentHash(file: string): string {
  return hash('sha256', readFileSync(file)).slice(0, 32)
}
