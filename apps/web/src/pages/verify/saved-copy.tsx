// The page as one file, for use without a network. The build puts everything that it needs into `verify.html`.

// Import before the styles of the page, which override them.
import '../../ui/tokens.css'
import '../../ui/base.css'
import '../../ui/components.css'

import { render } from 'preact'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/verify'
import { applyTheme } from '../../shell/theme.ts'
import { Toasts } from '../../ui/toast.tsx'
import { trustedWorkerUrl } from '../../worker-url.ts'
import { createChecking } from './checking.ts'
import { VerifyView } from './verify-view.tsx'
import { createCheckWorker } from './worker/start.ts'
import workerCode from './worker/worker.ts?code'

const startWorker = () => {
  const url = URL.createObjectURL(new Blob([workerCode], { type: 'text/javascript' }))
  return new Worker(trustedWorkerUrl(new URL(url)))
}

function SavedCopy() {
  return (
    <div>
      <header class="top">
        <div class="top-inner">
          <span class="brand saved-brand">
            {frame.name} · {t.saved.heading}
          </span>
        </div>
      </header>
      <main id="main">
        <VerifyView checking={checking} site={null}>
          <p class="part-note">{t.saved.offline}</p>
        </VerifyView>
      </main>
      <Toasts />
    </div>
  )
}

// A file that is dropped outside of a zone would replace the page.
for (const event of ['dragover', 'drop']) addEventListener(event, (dropped) => dropped.preventDefault())

applyTheme()
const checking = createChecking(createCheckWorker(startWorker))
render(<SavedCopy />, document.getElementById('root') as HTMLElement)
