import { useSignal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as frame } from '#texts/frame'
import { ErrorState, Loading } from '../../ui/states.tsx'

interface LazyProps<P> {
  load: () => Promise<{ default: ComponentType<P> }>
  props: P
  /** Shown while it loads, and instead of an error if it cannot be loaded. */
  otherwise?: ComponentChildren
}

/** A component whose code is large and rarely needed. */
export function Lazy<P extends object>({ load, props, otherwise }: LazyProps<P>) {
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
  if (loaded.value === null) return <>{otherwise ?? <Loading label={common.states.loading} />}</>
  if (loaded.value === 'failed')
    return (
      <>{otherwise ?? <ErrorState title={frame.updated} text={frame.updatedText} retry={() => location.reload()} />}</>
    )
  const { Part } = loaded.value
  return <Part {...props} />
}
