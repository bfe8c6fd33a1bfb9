// One shared file: its facts, the download, the preview and the proof.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { texts as t } from '#texts/share'
import { Code } from '../../ui/code.tsx'
import { Filename, plainFilename } from '../../ui/filename.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Loading } from '../../ui/states.tsx'
import { About } from '../view/about.tsx'
import { Content } from '../view/content.tsx'
import { Problem } from '../view/problem.tsx'
import { hashBytes, type OpenedFile, openFile, type ReadFailed } from '../view/source.ts'
import { ShareProblemState } from './share-problem.tsx'
import { lastPart, type SharedFacts, type ShareProblem, sharedFileUrl } from './share-source.ts'
import { SharedProof } from './shared-proof.tsx'

type Opening = { state: 'loading' } | { state: 'ready'; file: OpenedFile } | { state: 'failed'; error: ReadFailed }

interface SharedFileProps {
  id: string
  file: SharedFacts
  /** When the share expires; null if it does not. */
  until: string | null
  /** The way back to the folder. */
  children?: ComponentChildren
}

export function SharedFile({ id, file, until, children }: SharedFileProps) {
  const { filename } = file
  const opening = useSignal<Opening>({ state: 'loading' })
  const running = useSignal(new AbortController())
  const hash = useSignal<string | null>(null)
  const open = () => {
    running.value.abort()
    const mine = new AbortController()
    running.value = mine
    hash.value = null
    opening.value = { state: 'loading' }
    openFile(sharedFileUrl(id, filename), filename, mine.signal).then(
      (opened) => {
        opening.value = { state: 'ready', file: opened }
      },
      (error: ReadFailed) => {
        if (!mine.signal.aborted) opening.value = { state: 'failed', error }
      },
    )
  }
  useEffect(() => {
    open()
    return () => running.value.abort()
  }, [])
  const { value } = opening
  return (
    <>
      <div class="view-head">
        <div class="view-name">
          {children}
          <p class="view-folder">{t.heading}</p>
          <h1 tabIndex={-1}>
            <Filename name={filename} />
          </h1>
          <p class="share-facts">{factsOf(file)}</p>
          <p class="share-facts">{until === null ? t.endless : t.until(until)}</p>
        </div>
        <a
          class="button button-primary share-download"
          href={sharedFileUrl(id, filename)}
          download={lastPart(filename)}
          rel="nofollow"
        >
          <Icon name="download" />
          {t.download}
        </a>
      </div>
      {value.state === 'loading' && <Loading label={t.loading} />}
      {value.state === 'failed' && <FileProblem error={value.error} retry={open} />}
      {value.state === 'ready' && <Shown id={id} facts={file} file={value.file} hash={hash} reopen={open} />}
    </>
  )
}

export function factsOf({ size_bytes, content_type, uploaded_at }: SharedFacts): string {
  const facts = [t.bytes(size_bytes), plainFilename(content_type ?? t.noType)]
  return [...facts, ...(uploaded_at === null ? [] : [t.added(uploaded_at)])].join(' · ')
}

const SHARE_PROBLEMS: Partial<Record<ReadFailed['kind'], ShareProblem>> = {
  link: 'ended',
  file: 'missing',
  bytes: 'bytes',
  takenDown: 'takenDown',
}

/** Texts of the viewer would send the recipient to the page of the owner. */
function FileProblem({ error, retry }: { error: ReadFailed; retry: () => void }) {
  const problem = SHARE_PROBLEMS[error.kind]
  return problem ? <ShareProblemState problem={problem} retry={retry} /> : <Problem error={error} retry={retry} />
}

interface ShownProps {
  id: string
  facts: SharedFacts
  file: OpenedFile
  /** The hash of the bytes, once all are read. */
  hash: Signal<string | null>
  reopen: () => void
}

function Shown({ id, facts, file, hash, reopen }: ShownProps) {
  useEffect(() => {
    if (file.head.length !== file.size) return
    void hashBytes(file.head).then((computed) => {
      hash.value = computed
    })
  }, [file])
  return (
    <div class="view-parts">
      <div class="view-content">
        <Content
          file={file}
          reopen={reopen}
          onHash={(computed) => (hash.value = computed)}
          encrypted={<Encrypted filename={file.filename} />}
        />
      </div>
      <div class="stack">
        <About file={file} hash={hash} />
        <SharedProof id={id} attested={facts.attested} file={file} hash={hash} />
      </div>
    </div>
  )
}

/** Names may contain anything, so the command has fixed ones. */
const COMMAND = 'age --decrypt --identity key.txt --output opened downloaded.age'

function Encrypted({ filename }: { filename: string }) {
  return (
    <div class="stack">
      <h2>{t.encrypted.title}</h2>
      <p>{t.encrypted.text}</p>
      <Code title={<Filename name={lastPart(filename)} />} label={t.encrypted.command} text={COMMAND} />
    </div>
  )
}
