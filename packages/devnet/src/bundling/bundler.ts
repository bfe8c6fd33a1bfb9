// Programs with all that they import as few files of JavaScript: for this checkout (make-bundle.ts), or to be taken
// elsewhere (scripts/build-production.ts).

import { type OutputChunk, type Plugin, rolldown } from 'rolldown'

export type { OutputChunk, Plugin }

/** Left where they are: packages with native code, that read files of their own, or that few gateways load. */
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
  /** Where each program is, by the name of its file. */
  input: Record<string, string>
  /** Folder of the bundle. */
  dir: string
  /** JavaScript of where a source was: files beside it, such as threads and pages, are found there. */
  urlOf(source: string): string
  /** The same for CommonJS, as `__filename` and `__dirname`. */
  pathOf(source: string): string
  plugins: Plugin[]
}

export async function writeBundle({ input, dir, urlOf, pathOf, plugins }: BundleOptions): Promise<OutputChunk[]> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: EXTERNAL,
    plugins: [...plugins, keepPlaces(urlOf, pathOf)],
    onLog: () => {},
  })
  const { output } = await build.write({
    dir,
    sourcemap: true,
    sourcemapExcludeSources: true,
    // Node keeps the text of what it loads in memory: without comments and indentation that is a third less.
    minify: { compress: false, mangle: false, codegen: { asciiOnly: true } },
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}

/** Lines of packages have no origin: they would be most of the map, which takes memory once it is read. */
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
