// Bundles programs with all their imports into a few JavaScript files: for this checkout (make-bundle.ts), or for
// another machine (scripts/build-production.ts).

import { type OutputChunk, type Plugin, rolldown } from 'rolldown'

export type { OutputChunk, Plugin }

/** Packages outside the bundle: they have native code, read their own files, or are loaded by few gateways. */
const EXTERNAL = [
  /\.node$/,
  /^@node-rs\/crc32$/,
  /^litesvm$/,
  /^@nomicfoundation\/edr$/,
  /^@google-cloud\//,
  /^@grpc\//,
  /^mongodb$/,
  /^bson$/,
  /^pg(-.*)?$/,
  /^prom-client$/,
]

export interface BundleOptions {
  /** The path of each program, by file name. */
  input: Record<string, string>
  /** Folder of the bundle. */
  dir: string
  /** A JavaScript expression for the URL of a source, beside which its threads and pages are found. */
  urlOf(source: string): string
  /** The same for CommonJS, as `__filename` and `__dirname`. */
  pathOf(source: string): string
  plugins: Plugin[]
  /** True by default. */
  sourcemap?: boolean
}

export async function writeBundle(options: BundleOptions): Promise<OutputChunk[]> {
  const { input, dir, urlOf, pathOf, plugins, sourcemap = true } = options
  const build = await rolldown({
    input,
    platform: 'node',
    external: EXTERNAL,
    plugins: [...plugins, keepPlaces(urlOf, pathOf)],
    onLog: () => {},
  })
  const { output } = await build.write({
    dir,
    sourcemap,
    sourcemapExcludeSources: true,
    // Node keeps loaded source text in memory: removing comments and indentation saves a third.
    minify: { compress: false, mangle: false, codegen: { asciiOnly: true } },
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}

/** Lines of packages are left out: they would be most of the source map, which uses memory once loaded. */
function keepPlaces(urlOf: BundleOptions['urlOf'], pathOf: BundleOptions['pathOf']): Plugin {
  return {
    name: 'keep-places',
    transform(code, id) {
      const isOwn = !id.includes('/node_modules/')
      if (isOwn && !code.includes('import.meta.url')) return null
      const placed = code.replaceAll(/\bimport\.meta\.url\b/g, () => urlOf(id))
      if (isOwn) return { code: placed, map: sameLines(placed, id) }
      const isCommonJs = /\b__(dirname|filename)\b/.test(code) && !/\b(const|let|var) __(dirname|filename)\b/.test(code)
      const places = `var __filename = ${pathOf(id)}, __dirname = __filename.replace(/\\/[^/]*$/, "");`
      return { code: isCommonJs ? places + placed : placed, map: { mappings: '' } }
    },
  }
}

/** A source map where each line is its own origin. */
function sameLines(code: string, source: string) {
  const mappings = `AAAA${';AACA'.repeat(code.split('\n').length - 1)}`
  return { version: 3, sources: [source], names: [], mappings }
}
