const PATHS = {
  box: 'M2 4.7 8 1.5l6 3.2v6.6l-6 3.2-6-3.2zM2 4.7l6 3.3 6-3.3M8 8v6.5',
  auto: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  light: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  dark: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5 14 14',
  folder: 'M1.5 3.5h4.5l1.5 2h7v7.5h-13z',
  upload: 'M8 10.5V2.5M4.5 6 8 2.5 11.5 6M2.5 10v3.5h11V10',
  download: 'M8 2.5v8M4.5 7 8 10.5 11.5 7M2.5 10v3.5h11V10',
  lock: 'M3.5 7h9v7h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  file: 'M4 1.5h5l3 3v10H4zM9 1.5v3h3',
  key: 'M10.5 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M8 8l-6 6M4 12l2 2',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  minus: 'M4 8h8',
  warning: 'M8 1.8 15 14H1zM8 6.2v3.6M8 11.9v.1',
  previous: 'M10 3 5 8l5 5',
  next: 'M6 3l5 5-5 5',
  less: 'M3 8h10',
  more: 'M3 8h10M8 3v10',
  arrow: 'M2.5 8h11M9 3.5 13.5 8 9 12.5',
  terminal: 'M2 3.5l4 4-4 4M8 12.5h6',
  globe: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M1.5 8h13M8 1.5c4 4 4 9 0 13M8 1.5c-4 4-4 9 0 13',
  spark: 'M8 1.5 9.6 6.4 14.5 8 9.6 9.6 8 14.5 6.4 9.6 1.5 8l4.9-1.6z',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
