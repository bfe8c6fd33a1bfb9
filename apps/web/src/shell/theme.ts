// The light or dark theme: the system's choice until the visitor chooses.

import { signal } from '@preact/signals'

const THEMES = ['auto', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const KEY = 'svc-theme'

export const theme = signal<Theme>(storedTheme())

export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme.value === 'auto' ? '' : theme.value
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] as Theme
  applyTheme()
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

function storedTheme(): Theme {
  try {
    return THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'auto'
  } catch {
    return 'auto'
  }
}
