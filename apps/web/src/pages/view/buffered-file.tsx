// A file that must be loaded completely before it is shown.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { texts as t } from '#texts/view'
import { Progress } from '../../ui/progress.tsx'
import { Problem } from './problem.tsx'
import { hashBytes, type OpenedFile, type ReadFailed, readBytes } from './source.ts'

export interface ContentProps {
  file: OpenedFile
  reopen: () => void
  /** Called when the file was read completely. */
  onHash: (hash: string) => void
}

type Read =
  | { state: 'reading'; done: number }
  | { state: 'ready'; bytes: Uint8Array }
  | { state: 'failed'; error: ReadFailed }

export function Whole({
  file,
  reopen,
  onHash,
  children,
}: ContentProps & { children: (bytes: Uint8Array) => ComponentChildren }) {
  const read = useSignal<Read>({ state: 'reading', done: file.head.length })
  const running = useSignal(new AbortController())
  const start = () => {
    const { signal } = running.value
    const onProgress = (done: number) => {
      read.value = { state: 'reading', done }
    }
    readBytes(file, 0, file.size, { signal, onProgress }).then(
      async (bytes) => {
        read.value = { state: 'ready', bytes }
        const hash = await hashBytes(bytes)
        if (!signal.aborted) onHash(hash)
      },
      (error: ReadFailed) => {
        if (!signal.aborted) read.value = { state: 'failed', error }
      },
    )
  }
  useEffect(() => {
    start()
    return () => running.value.abort()
  }, [])
  const { value } = read
  if (value.state === 'reading')
    return <Progress label={t.reading(value.done, file.size)} done={value.done} of={file.size} />
  if (value.state === 'failed')
    return <Problem error={value.error} retry={value.error.kind === 'changed' ? reopen : start} />
  return <>{children(value.bytes)}</>
}
