import { useSignal } from '@preact/signals'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import type { Checking } from './checking.ts'
import { DropZone } from './drop-zone.tsx'
import { type Dropped, readDrop, readPicked } from './dropped.ts'
import { Name } from './shown.tsx'
import { StepCard } from './step.tsx'
import type { CheckedBundle, ComparedFile } from './worker/messages.ts'

const t = texts.files

export function FilesCard({ checking, bundle }: { checking: Checking; bundle: CheckedBundle }) {
  const problem = useSignal<string | null>(null)
  const take = async (dropped: Dropped | Promise<Dropped>) => {
    try {
      const { files, isComplete } = await dropped
      problem.value = files.length === 0 ? t.none : null
      if (files.length > 0) await checking.compare(files, isComplete)
    } catch {
      problem.value = t.none
    }
  }
  const pick = (isComplete: boolean) => (event: Event) => {
    const input = event.currentTarget as HTMLInputElement
    if (input.files) void take(readPicked(input.files, isComplete))
    input.value = ''
  }
  const given = checking.files.value
  return (
    <StepCard id="files" title={t.title} facts={['files_match']} bundle={bundle}>
      <div class="stack">
        <p>{t.text}</p>
        <DropZone label={t.drop} onDrop={(transfer) => void take(readDrop(transfer))}>
          <span>{t.drop}</span>
          <div class="row">
            <label class="button file-button">
              <Icon name="file" />
              {t.chooseFiles}
              <input class="quiet-text" type="file" multiple onChange={pick(false)} />
            </label>
            <label class="button file-button">
              <Icon name="folder" />
              {t.chooseFolder}
              <input class="quiet-text" type="file" {...{ webkitdirectory: true }} onChange={pick(true)} />
            </label>
          </div>
        </DropZone>
        {problem.value && (
          <p class="field-error" role="alert">
            {problem.value}
          </p>
        )}
        {given && (
          <>
            <div class="row">
              <label class="check">
                <input
                  type="checkbox"
                  checked={given.isComplete}
                  onChange={(event) => void checking.setWhole(event.currentTarget.checked)}
                />
                {t.whole}
              </label>
              <Button kind="quiet" onClick={() => void checking.dropFiles()}>
                {t.clear}
              </Button>
            </div>
            <Compared bundle={bundle} />
          </>
        )}
        <p class="part-note">{t.encrypted}</p>
      </div>
    </StepCard>
  )
}

const TONES: Record<keyof typeof t.states, Tone> = {
  unchanged: 'good',
  renamed: 'info',
  changed: 'bad',
  unreadable: 'warn',
  unlisted: 'bad',
  not_shown: 'neutral',
  missing: 'bad',
}

/** The row limit, which keeps the page fast; problems come first. */
const MAX_ROWS = 200

function Compared({ bundle: { compared, files } }: { bundle: CheckedBundle }) {
  if (!files) return null
  const missing = files.names.missing.map((path) => ({ path, state: 'missing' as const, listedAs: null }))
  const counts = Object.entries(Object.groupBy(compared, ({ state }) => state)).map(
    ([state, some]) => [state as keyof typeof t.states, some.length] as const,
  )
  const shown = [...missing, ...compared].slice(0, MAX_ROWS)
  const hidden = files.counts.missing + compared.length - shown.length
  return (
    <>
      <div role="status">
        <ul class="row">
          {[...counts, ['missing', files.counts.missing] as const]
            .filter(([, count]) => count > 0)
            .map(([state, count]) => (
              <li key={state}>
                <Status tone={TONES[state]}>{t.counts(t.states[state], count)}</Status>
              </li>
            ))}
        </ul>
      </div>
      <Table caption={t.caption} head={[t.file, t.state]} rows={shown.map(row)} />
      {hidden > 0 && <p class="part-note">{t.more(hidden)}</p>}
    </>
  )
}

function row({ path, state, listedAs }: Omit<ComparedFile, 'state'> & { state: keyof typeof t.states }) {
  return [
    <span key="name" class="compared-name">
      <Name text={path} />
      {listedAs !== null && (
        <span class="part-note">
          {t.listedAs} <Name text={listedAs} />
        </span>
      )}
    </span>,
    <Status key="state" tone={TONES[state]}>
      {t.states[state]}
    </Status>,
  ]
}
