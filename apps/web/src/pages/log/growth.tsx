import { useSignal } from '@preact/signals'
import { texts } from '#texts/log'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Icon } from '../../ui/icons.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { type Alarm, alarmText, isAlarm, type Seen } from './last-checkpoint.ts'
import type { ReadyLog } from './log-view.ts'

const t = texts.growth

/** Shows whether the log has only grown since the last visit. */
export function GrowthNote({ ready, accept }: { ready: ReadyLog; accept: () => void }) {
  const { log, growth, isStored } = ready
  const size = log.head?.size ?? 0
  if (isAlarm(growth)) return <AlarmNote alarm={growth} ready={ready} accept={accept} />
  if (growth.kind === 'unproven')
    return (
      <div class="note note-warn" role="alert">
        <b>{t.unproven}</b>
        <p>{t.unprovenText(growth.seen.size, seconds(growth.seen))}</p>
      </div>
    )
  return (
    <div class={`note log-growth ${growth.kind === 'first' ? 'log-first' : 'note-good'}`} role="status">
      <Icon name={growth.kind === 'first' ? 'spark' : 'check'} />
      <div>
        <p>
          {growth.kind === 'first' && (size === 0 ? t.firstEmpty : t.first(size))}
          {growth.kind === 'same' && t.same(growth.seen.size, seconds(growth.seen))}
          {growth.kind === 'grown' && t.grown(growth.seen.size, seconds(growth.seen))}
        </p>
        {growth.kind === 'grown' && <p>{t.how(size - growth.seen.size)}</p>}
        {!isStored && size > 0 && <p>{t.notKept}</p>}
      </div>
    </div>
  )
}

function AlarmNote({ alarm, ready, accept }: { alarm: Alarm; ready: ReadyLog; accept: () => void }) {
  const isAsking = useSignal(false)
  const { head } = ready.log
  const save = () => saveFile(t.filename, new Blob([alarmText(alarm, head)], { type: 'application/json' }))
  return (
    <div class="note note-bad log-alarm" role="alert">
      <h2>
        <Icon name="warning" />
        {t[alarm.kind]}
      </h2>
      <p>{textOf(alarm, head?.size ?? 0)}</p>
      <p>{t.evidence}</p>
      <div class="row">
        <Button kind="primary" onClick={save}>
          <Icon name="download" />
          {t.save}
        </Button>
        <Button
          onClick={() => {
            isAsking.value = true
          }}
        >
          {t.accept}
        </Button>
      </div>
      {alarm.kind === 'forked' && (
        <p>
          {t.check} <code>{`svc-witness check-alarm ${t.filename} ${alarm.seen.vkey}`}</code>
        </p>
      )}
      <div class="log-both">
        <Code title={t.before} label={t.before} text={alarm.seen.text} />
        <Code title={t.now} label={t.now} text={head?.text ?? t.nothing} />
      </div>
      {isAsking.value && (
        <Confirm
          title={t.acceptAsk}
          text={t.acceptText}
          action={t.accept}
          onAnswer={(isSure) => {
            isAsking.value = false
            if (isSure) accept()
          }}
        />
      )}
    </div>
  )
}

function textOf({ kind, seen }: Alarm, sizeNow: number): string {
  if (kind === 'forked') return t.forkedText(seen.size, seconds(seen))
  if (kind === 'shrunk') return t.shrunkText(seen.size, seconds(seen), sizeNow)
  return t.replacedText(seen.origin, seconds(seen))
}

function seconds({ at }: Seen): number {
  return Date.parse(at) / 1000
}
