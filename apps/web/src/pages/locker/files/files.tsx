import { useSignal } from '@preact/signals'
import type { ManifestEntry } from '@svc/api/file-entries'
import { printable } from '@svc/verifier/untrusted'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/locker'
import { Empty, Loading } from '../../../ui/states.tsx'
import { Table } from '../../../ui/table.tsx'
import { ProblemNote, useAction } from '../problems.tsx'
import type { LockerSession } from '../session.ts'

const t = texts.fileList
const SHOWN = 100

export function Files({ session }: { session: LockerSession }) {
  const files = useSignal<ManifestEntry[] | null>(null)
  const { problem, run } = useAction()
  const load = () =>
    run(async () => {
      const list: ManifestEntry[] = []
      for await (const file of session.client.files(session.locker)) if (list.push(file) === SHOWN) break
      files.value = list
    })
  useEffect(() => void load(), [session])
  if (problem) return <ProblemNote problem={problem} retry={() => void load()} />
  if (!files.value) return <Loading label={common.states.loading} />
  if (files.value.length === 0) return <Empty title={t.none} text={t.noneText} />
  return (
    <Table
      caption={t.caption}
      head={[t.name, t.size]}
      numeric={[1]}
      rows={files.value.map(({ filename, size_bytes }) => [
        printable(filename, 200),
        size_bytes === null ? '–' : common.bytes(size_bytes),
      ])}
    />
  )
}
