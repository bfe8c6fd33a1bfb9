// Shows text, in parts if it is long. Markup in it stays text.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/view'
import { Button } from '../../ui/button.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { ContentProps } from './buffered-file.tsx'
import { extensionOf } from './kinds.ts'
import { Lazy } from './lazy.tsx'
import { Problem } from './problem.tsx'
import { hashBytes, type ReadFailed, readBytes } from './source.ts'

/** The size of a part; the first answer contains the first part. */
const PART_BYTES = 1024 * 1024
/** The limit: a longer text makes browsers slow. */
const MAX_BYTES = 8 * PART_BYTES
/** The limit of highlighting, which needs an element for each word. */
const MAX_COLOURED = 150_000

/** Direction characters, which can make source code look like different code. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/

const loadHighlight = () => import('./highlight.tsx')
const loadMarkdown = () => import('./markdown.tsx')

export function TextFile({ charset, isMarkdown, ...props }: ContentProps & { charset: string; isMarkdown?: boolean }) {
  const { file, reopen, onHash } = props
  const bytes = useSignal(file.head)
  const problem = useSignal<ReadFailed | null>(null)
  const isLoading = useSignal(false)
  const running = useSignal(new AbortController())
  useEffect(() => () => running.value.abort(), [])
  const shown = bytes.value
  const isComplete = shown.length >= file.size
  useEffect(() => {
    // Compare the hash of a text that the first answer contains completely.
    if (isComplete && shown !== file.head)
      void hashBytes(shown).then((hash) => running.value.signal.aborted || onHash(hash))
  }, [isComplete])

  const loadMore = async () => {
    isLoading.value = true
    problem.value = null
    const { signal } = running.value
    const start = bytes.value.length
    try {
      const more = await readBytes(file, start, Math.min(file.size, start + PART_BYTES), { signal })
      bytes.value = joined(bytes.value, more)
    } catch (error) {
      if (!signal.aborted) problem.value = error as ReadFailed // the only error of `readBytes`
    }
    isLoading.value = false
  }

  // An incomplete character at the end waits for the next part.
  const text = new TextDecoder(charset).decode(shown, { stream: !isComplete })
  const source = <Source text={text} language={languageOf(file.filename, file.type)} />
  return (
    <div class="stack">
      {isHtml(file.type, file.filename) && <p class="view-note">{t.text.isHtml}</p>}
      {DIRECTIONS.test(text) && <p class="view-note view-warning">{t.text.directions}</p>}
      {charset === 'windows-1252' && <p class="view-note">{t.text.charset}</p>}
      {isMarkdown && isComplete && text.length < MAX_COLOURED ? (
        <Tabs
          label={t.markdown.label}
          tabs={[
            { name: t.markdown.formatted, content: <Lazy load={loadMarkdown} props={{ text }} /> },
            { name: t.markdown.source, content: source },
          ]}
        />
      ) : (
        source
      )}
      {problem.value && (
        <Problem error={problem.value} retry={problem.value.kind === 'changed' ? reopen : () => void loadMore()} />
      )}
      {!isComplete && (
        <div class="row" role="status">
          <span>{t.text.part(shown.length, file.size)}</span>
          {shown.length >= MAX_BYTES ? (
            <span>{t.text.limit}</span>
          ) : (
            <Button onClick={() => void loadMore()} busy={isLoading.value} disabled={isLoading.value}>
              {isLoading.value ? t.text.loading : t.text.more}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function Source({ text, language }: { text: string; language: string | null }) {
  const isWrapped = useSignal(false)
  const numbers = useRef<HTMLPreElement>(null)
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  useEffect(() => {
    // One text node: a million elements would be slow.
    if (numbers.current) numbers.current.textContent = Array.from({ length: lines }, (_, i) => i + 1).join('\n')
  }, [lines, isWrapped.value])
  return (
    <div class="stack">
      <label class="view-wrap">
        <input
          type="checkbox"
          checked={isWrapped.value}
          onChange={({ currentTarget }) => {
            isWrapped.value = currentTarget.checked
          }}
        />
        {t.text.wrap}
      </label>
      <section
        class={`view-frame view-text${isWrapped.value ? ' view-wrapped' : ''}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        tabIndex={0}
        aria-label={t.text.label}
      >
        {!isWrapped.value && <pre ref={numbers} class="view-numbers" aria-hidden="true" />}
        <pre dir="auto">
          {language && text.length < MAX_COLOURED ? (
            <Lazy load={loadHighlight} props={{ text, language }} otherwise={text} />
          ) : (
            text
          )}
        </pre>
      </section>
    </div>
  )
}

function isHtml(type: string, filename: string): boolean {
  return /html/.test(type) || /^x?html?$/.test(extensionOf(filename))
}

/** The highlighter's name of the language; null for prose. */
function languageOf(filename: string, type: string): string | null {
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  if (/^(makefile|gnumakefile)$/i.test(name)) return 'makefile'
  return LANGUAGES[extensionOf(filename)] ?? LANGUAGES[type.replace(/^.*[/+]/, '')] ?? null
}

const LANGUAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    bash: 'sh bash zsh x-sh',
    c: 'c h',
    cpp: 'cc cpp hpp cxx',
    csharp: 'cs',
    css: 'css',
    diff: 'diff patch',
    go: 'go',
    graphql: 'graphql',
    ini: 'ini toml cfg conf',
    java: 'java',
    javascript: 'js mjs cjs jsx javascript',
    json: 'json jsonl',
    kotlin: 'kt',
    less: 'less',
    lua: 'lua',
    markdown: 'md markdown',
    perl: 'pl pm',
    php: 'php',
    python: 'py python',
    r: 'r',
    ruby: 'rb',
    rust: 'rs',
    scss: 'scss',
    sql: 'sql',
    swift: 'swift',
    typescript: 'ts mts cts tsx typescript',
    xml: 'xml svg html htm xhtml',
    yaml: 'yaml yml',
  }).flatMap(([language, names]) => names.split(' ').map((name) => [name, language])),
)

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
