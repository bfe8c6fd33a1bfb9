import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as frame } from '#texts/frame'
import { ErrorState, Loading } from '../../ui/states.tsx'

/** A component whose code is large and rarely needed. */
export function Lazily<P extends object>({
  load,
  props,
}: {
  load: () => Promise<{ default: ComponentType<P> }>
  props: P
}) {
  const loaded = useSignal<{ Part: ComponentType<P> } | 'failed' | null>(null)
  useEffect(() => {
    load().then(
      (module) => {
        loaded.value = { Part: module.default }
      },
      () => {
        loaded.value = 'failed'
      },
    )
  }, [])
  if (loaded.value === null) return <Loading label={common.states.loading} />
  if (loaded.value === 'failed')
    return <ErrorState title={frame.updated} text={frame.updatedText} retry={() => location.reload()} />
  const { Part } = loaded.value
  return <Part {...props} />
}
