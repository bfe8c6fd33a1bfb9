import type { Words } from './words.ts'

/** Completes commands and options from a table keyed by the typed command; everything else completes files. */
export function bashScript(words: readonly Words[]): string {
  const [program] = words
  const globals = (program?.options ?? []).map(({ flag }) => flag)
  const withValue = words.flatMap(({ options }) =>
    options.filter(({ takesValue }) => takesValue).map(({ flag }) => flag),
  )
  const cases = words.map(({ path, commands, options }) => {
    const all = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag), ...(path ? globals : [])]
    return `    ${path ? `'${path}'` : "''"}) words='${[...new Set(all)].join(' ')}' ;;`
  })
  return `# svc completion bash > ~/.local/share/bash-completion/completions/svc
_svc() {
  local word path='' words='' i skip=''
  local current="\${COMP_WORDS[COMP_CWORD]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
      ${[...new Set(withValue)].join('|')}) skip=1; continue ;;
      -*) continue ;;
    esac
    case "\${path:+$path }$word" in
${words
  .filter(({ path }) => path)
  .map(({ path }) => `      '${path}') path='${path}' ;;`)
  .join('\n')}
    esac
  done
  [[ -n $skip ]] && return
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
`
}
