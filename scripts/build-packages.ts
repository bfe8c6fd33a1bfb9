// `npm run build`: the packages that people install, as plain JavaScript with types, each in a folder under `dist`, and the
// web pages that the gateway serves.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensurePages } from '@svc/web/build'
import { compile } from './build-packages/compile.ts'
import { publishedManifest } from './build-packages/manifest.ts'
import { publishedPackages, type SourcePackage } from './build-packages/published.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Returns the folders of the built packages. */
export function buildPackages(target: string): string[] {
  const packages = publishedPackages(root)
  mkdirSync(target, { recursive: true })
  const compiled = mkdtempSync(join(target, '.compiled-'))
  try {
    compile(root, packages, compiled)
    return packages.map((source) => layOut(source, compiled, join(target, source.name)))
  } finally {
    rmSync(compiled, { recursive: true })
  }
}

function layOut(source: SourcePackage, compiled: string, folder: string): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  renameSync(join(compiled, source.home, 'src'), join(folder, 'lib'))
  copyFileSync(join(root, source.home, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const manifest = publishedManifest(source)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const file of Object.values(manifest.bin ?? {})) chmodSync(join(folder, file), 0o755)
  return folder
}

if (import.meta.main) {
  for (const folder of buildPackages(join(root, 'dist'))) console.log(folder)
  if (!(await ensurePages(console.log))) process.exit(1)
}
