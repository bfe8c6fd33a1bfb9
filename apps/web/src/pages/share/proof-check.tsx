// Checks the proof of a shared file in this browser, with the code of the verify page: the bytes are read and hashed
// here, and compared with the file that the signed statement includes.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/share'
import { texts as verify } from '#texts/verify'
import { urlOf } from '../../address.ts'
import { index } from '../../gateway.ts'
import { handOver } from '../../search/hand-over.ts'
import { Button } from '../../ui/button.tsx'
import { Progress } from '../../ui/progress.tsx'
import { toast } from '../../ui/toast.tsx'
import { trustedWorkerUrl } from '../../worker-url.ts'
import { Verdict } from '../verify/banner.tsx'
import { verdictOf } from '../verify/checking.ts'
import { readKeys, remembered } from '../verify/pins.ts'
import type { CheckedBundle, CheckInput, CheckResult } from '../verify/worker/messages.ts'
import { type CheckWorker, createCheckWorker, WorkFailed } from '../verify/worker/start.ts'
import workerUrl from '../verify/worker/worker.ts?worker&url'
import { hashOf, type OpenedFile } from '../view/source.ts'
import '../verify/verify.css'

const t = texts.check

type Outcome =
  | { state: 'reading'; done: number }
  | { state: 'checked'; result: CheckResult; bundle: Blob }
  | { state: 'other_file' | 'no_proof' | 'failed' }

interface ProofCheckProps {
  path: string
  file: OpenedFile
  /** The hash of the received bytes, once all are read. */
  hash: Signal<string | null>
}

export default function ProofCheck({ path, file, hash }: ProofCheckProps) {
  const outcome = useSignal<Outcome>({ state: 'reading', done: file.head.length })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let started: Worker | null = null
    const worker = createCheckWorker(() => {
      started = new Worker(trustedWorkerUrl(new URL(workerUrl, import.meta.url)), { type: 'module' })
      return started
    })
    const onProgress = (done: number) => {
      outcome.value = { state: 'reading', done }
    }
    const readHash = async () => hash.value ?? (await hashOf(file, { signal, onProgress }))
    check(worker, { path, file, readHash, signal }).then(
      (found) => {
        if (!signal.aborted) outcome.value = found
      },
      (error: unknown) => {
        if (!signal.aborted) outcome.value = { state: isMissing(error) ? 'no_proof' : 'failed' }
      },
    )
    return () => {
      controller.abort()
      started?.terminate()
    }
  }, [])
  const { value } = outcome
  switch (value.state) {
    case 'reading':
      return <Progress label={texts.proof.checking} done={value.done} of={file.size} />
    case 'other_file':
      return (
        <Verdict kind="failed" icon="cross" title={t.otherFile}>
          <p>{t.otherFileText}</p>
        </Verdict>
      )
    case 'no_proof':
      return (
        <Verdict kind="open" icon="warning" title={t.noProof}>
          <p>{texts.proof.noneText}</p>
        </Verdict>
      )
    case 'failed':
      return (
        <Verdict kind="open" icon="warning" title={t.failed}>
          <p>{t.failedText}</p>
        </Verdict>
      )
    case 'checked':
      return <Checked result={value.result} bundle={value.bundle} name={texts.proof.filename(file.filename)} />
  }
}

interface Check {
  path: string
  file: OpenedFile
  readHash: () => Promise<string>
  signal: AbortSignal
}

async function check(worker: CheckWorker, { path, file, readHash, signal }: Check): Promise<Outcome> {
  const bundle = await worker.call('fetchBundle', urlOf(path), { signal })
  const content_hash = await readHash()
  const input = { ...(await trusted(worker)), bundle, files: null }
  const first = await worker.call('check', input, { signal })
  if (first.refused) return { state: 'checked', result: first, bundle }
  // The proof has the full name of the file, of which a share shows only the end.
  const { total, rows } = await worker.call('files', { offset: 0, limit: 1, search: '' })
  const name = rows[0]?.file?.filename
  if (total !== 1 || name === undefined || !`/${name}`.endsWith(`/${file.filename}`)) return { state: 'other_file' }
  const list = [{ path: name, content: { content_hash, size_bytes: file.size } }]
  const result = await worker.call('check', { ...input, files: { list, isComplete: false } }, { signal })
  return { state: 'checked', result, bundle }
}

/** The keys that this browser remembers from the verify page. Keys of this gateway would prove nothing about it. */
async function trusted(worker: CheckWorker): Promise<Omit<CheckInput, 'bundle' | 'files'>> {
  const { keys, listed } = await readKeys(worker, remembered.value)
  const { value } = index.now
  const domainTag = value.state === 'ready' ? value.value.evidence.domain_tag : null
  return { keys, listed, signers: [], domainTag, logKeys: [], policy: null, node: null, receipt: null }
}

function isMissing(error: unknown): boolean {
  return error instanceof WorkFailed && error.status === 404
}

function Checked({ result, bundle, name }: { result: CheckResult; bundle: Blob; name: string }) {
  if (result.refused)
    return (
      <Verdict kind="failed" icon="cross" title={verify.verdict.refused}>
        <p>
          {verify.verdict.refusedText} {result.refused.why} <code>({result.refused.code})</code>
        </p>
      </Verdict>
    )
  const { failed, passed, open } = verdictOf(result)
  const more = () => {
    handOver(new File([bundle], name, { type: 'application/json' })).catch(() => toast(t.failed))
  }
  if (failed.length > 0)
    return (
      <Verdict kind="failed" icon="cross" title={verify.verdict.failed(failed.length)}>
        <p>{verify.verdict.failedText}</p>
        <ul>
          {failed.map((fact) => (
            <li key={fact}>
              {verify.facts[fact]?.name}: {whyOf(result, fact)}
            </li>
          ))}
        </ul>
      </Verdict>
    )
  const isOpen = open.length > 0
  return (
    <Verdict
      kind={isOpen ? 'open' : 'passed'}
      icon={isOpen ? 'warning' : 'check'}
      title={isOpen ? verify.verdict.open(open.length) : verify.verdict.passed(passed.length)}
    >
      <p>{t.about}</p>
      <Names title={t.passed} facts={passed} />
      {isOpen && (
        <>
          {open.includes('key_pinned') && !result.key?.pinned && (
            <p>
              <b>{verify.verdict.noKey}</b>
            </p>
          )}
          <Names title={t.open} facts={open} />
        </>
      )}
      <Button onClick={more}>{t.more}</Button>
    </Verdict>
  )
}

function Names({ title, facts }: { title: string; facts: readonly string[] }) {
  return (
    <div>
      <p>{title}</p>
      <ul>
        {facts.map((fact) => (
          <li key={fact}>{verify.facts[fact]?.name}</li>
        ))}
      </ul>
    </div>
  )
}

function whyOf({ facts }: CheckedBundle, name: string): string {
  return facts[name]?.why ?? ''
}
