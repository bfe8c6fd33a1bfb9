// `node build-pages.ts <folder>`: builds the pages with everything they need into a new folder there.

import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { VERSION } from '@svc/protocol/version'
import { build, type InlineConfig, type Plugin } from 'vite'
import { ROUTES } from '../src/routes.ts'
import { contentHash, type NewestBuild, newestBuild, ROOT, WEB } from './ensure-pages.ts'
import { savedCopy } from './saved-copy.ts'

/** Files that change the build although no page imports them. */
const ALSO = [
  'package-lock.json',
  'apps/web/index.html',
  'apps/web/build/build-pages.ts',
  'apps/web/build/saved-copy.ts',
  'apps/web/src/routes.ts',
  'packages/protocol/src/version.ts',
]

/** Previous builds stay this long: a gateway that is starting may still read one. */
const KEEP_MS = 600_000

/** Hashes files when they are read: a file that changes during the build makes it stale, never wrong. */
const recordInputs: Plugin = {
  name: 'note-inputs',
  enforce: 'pre',
  load(id) {
    const [file = ''] = id.split('?')
    if (file.startsWith(ROOT) && !file.includes('/node_modules/')) inputs[relative(ROOT, file)] = contentHash(file)
    return null
  },
}

/**
 * Removes the hash at the end of each preload marker. The bundler that the repository pins is newer than the one Vite
 * asks for; this Vite does not know the hash, and would leave it in the code as a syntax error.
 */
const removeMarkerHashes: Plugin = {
  name: 'remove-marker-hashes',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_, files) {
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue
        file.code = file.code.replaceAll(/(__vite__mapDeps\(\[[\d,]*\]\)|\[\]|void 0)[0-9a-f]{32}\b/g, '$1')
      }
    },
  },
}

/**
 * Adds the decoders of scanned pages to the build; the PDF renderer would load them from an address at run time. The
 * form without WebAssembly is used, because the policy of the pages does not allow WebAssembly.
 */
const pdfImageDecoders: Plugin = {
  name: 'pdf-image-decoders',
  transform(code, id) {
    if (!id.includes('pdfjs-dist/build/pdf.worker')) return null
    const load = /import\(\s*\/\*webpackIgnore: true\*\/\s*\/\*@vite-ignore\*\/\s*(`[^`]*_noWasmFilename\}`)\)/
    if (!load.test(code))
      throw new Error('the PDF renderer no longer loads its image decoders as expected: adapt this plugin')
    const [jbig2, openjpeg] = ['jbig2', 'openjpeg'].map(
      (name) => `import('pdfjs-dist/wasm/${name}_nowasm_fallback.js')`,
    )
    return code.replace(load, `(this._noWasmFilename.startsWith('jbig2') ? ${jbig2} : ${openjpeg})`)
  },
}

// Otherwise a test that builds the pages would get the development version.
process.env.NODE_ENV = 'production'
const dist = resolve(process.argv[2] as string)
mkdirSync(dist, { recursive: true })
removeOld()
const folder = mkdtempSync(join(dist, 'build-'))
const inputs: Record<string, string> = Object.fromEntries(ALSO.map((file) => [file, contentHash(join(ROOT, file))]))
await bundle()
await compress()
const newest: NewestBuild = {
  version: VERSION,
  folder: basename(folder),
  pages: ROUTES.map(({ path, policy }) => ({ path, ...(policy && { policy }) })),
  inputs,
}
writeFileSync(join(folder, 'newest.json'), JSON.stringify(newest))
renameSync(join(folder, 'newest.json'), join(dist, 'newest.json'))

async function bundle(): Promise<void> {
  const plugins = [recordInputs, removeMarkerHashes]
  const settings: InlineConfig = {
    configFile: false,
    root: WEB,
    // Files refer to each other by relative paths, so the pages work under any prefix.
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    worker: { format: 'es', plugins: () => [...plugins, pdfImageDecoders] },
    build: {
      target: 'es2022',
      // The policy of the pages allows no inline code.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  }
  await build({ ...settings, plugins, build: { ...settings.build, outDir: folder, emptyOutDir: false } })
  writeFileSync(join(folder, 'verify.html'), await savedCopy(plugins, settings))
}

/** Compresses the files once, at the highest level; the gateway only selects one. */
async function compress(): Promise<void> {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  for (const file of globSync([join(folder, 'assets/*'), join(folder, 'verify.html')])) {
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, quality))
    writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
  }
}

function removeOld(): void {
  const current = newestBuild()?.folder
  for (const path of globSync(join(dist, 'build-*'))) {
    const isOld = Date.now() - statSync(path).mtimeMs > KEEP_MS
    if (basename(path) !== current && isOld) rmSync(path, { recursive: true, force: true })
  }
}
