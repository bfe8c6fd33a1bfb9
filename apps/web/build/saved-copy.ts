// The verify page as one file: its script, styles and worker are inline, and a policy with their hashes lets nothing else
// run. The same sources always give the same bytes, so that its hash can be compared between gateways.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { build, type InlineConfig, type Plugin } from 'vite'
import { texts as frame } from '../src/texts/en/frame.ts'
import { texts } from '../src/texts/en/verify.ts'
import { WEB } from './ensure-pages.ts'

const PAGE = join(WEB, 'src/pages/verify/saved-copy.tsx')

export async function savedCopy(plugins: Plugin[], settings: InlineConfig): Promise<string> {
  const { code, css } = await inOnePiece(PAGE, 'es', [...plugins, asCode(plugins, settings)], settings)
  const script = code.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')
  const policy = [
    "default-src 'none'",
    `script-src '${sourceHash(script)}'`,
    `style-src '${sourceHash(css)}'`,
    'worker-src blob:',
    'connect-src https: http://localhost:* http://127.0.0.1:*',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types svc-worker',
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${texts.title} · ${frame.name} · ${texts.saved.heading}</title>
<style>${css}</style>
</head>
<body>
<div id="root"></div>
<script type="module">${script}</script>
</body>
</html>
`
}

/** Imports the source of a worker as text: `import code from './worker.ts?code'`. */
function asCode(plugins: Plugin[], settings: InlineConfig): Plugin {
  return {
    name: 'worker-as-code',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith('?code')) return null
      const { code } = await inOnePiece(id.slice(0, -'?code'.length), 'iife', plugins, settings)
      return `export default ${JSON.stringify(code)}`
    },
  }
}

async function inOnePiece(input: string, format: 'es' | 'iife', plugins: Plugin[], settings: InlineConfig) {
  const built = await build({
    ...settings,
    plugins,
    build: {
      ...settings.build,
      write: false,
      cssCodeSplit: false,
      rolldownOptions: { input, output: { format, codeSplitting: false } },
    },
  })
  const { output } = (Array.isArray(built) ? built[0] : built) as Exclude<typeof built, unknown[] | { on: unknown }>
  const [chunk, ...others] = output.filter((file) => file.type === 'chunk')
  if (!chunk || others.length > 0) throw new Error(`${input} is not in one piece`)
  const css = output.flatMap((file) =>
    file.type === 'asset' && file.fileName.endsWith('.css') ? [String(file.source)] : [],
  )
  return { code: chunk.code, css: css.join('\n') }
}

function sourceHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
