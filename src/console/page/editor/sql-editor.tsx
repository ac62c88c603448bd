import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { LanguageSupport, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { HIGHLIGHT, THEME } from './editor-style.ts';
import { type SchemaNames, sqlCompletion, WEIR_SQL } from './sql-dialect.ts';

/** Where a text is wrong, and why; lines and columns begin at 1. */
export type TextProblem = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

export type EditorHandle = {
  /** The selected text; empty if nothing is selected. */
  readonly selection: () => string;
  readonly focus: () => void;
};

/**
 * An editor for the dialect of weir. Tab indents; Escape and then Tab leaves it. `text` is the text at first: give the
 * editor another `key` to show another text.
 */
export function SqlEditor(props: {
  readonly label: string;
  readonly text: string;
  readonly names: SchemaNames;
  readonly problem: TextProblem | undefined;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** Whether the text can be read and copied, and not changed. */
  readonly isReadOnly?: boolean;
  readonly handle: { current: EditorHandle | undefined };
}) {
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  const completion = useRef(new Compartment());
  latest.current = props;
  useEffect(() => {
    // In a shadow root the styles of the editor are adopted, which the policy for content allows.
    const root = frame.current!.shadowRoot ?? frame.current!.attachShadow({ mode: 'open' });
    const opened = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: props.text,
        extensions: [
          makeExtensions(props.label, latest, completion.current),
          EditorState.readOnly.of(props.isReadOnly ?? false),
        ],
      }),
    });
    view.current = opened;
    props.handle.current = {
      selection: () => {
        const { from, to } = opened.state.selection.main;
        return opened.state.sliceDoc(from, to);
      },
      focus: () => opened.focus(),
    };
    return () => {
      props.handle.current = undefined;
      opened.destroy();
    };
  }, []);
  useEffect(() => {
    const effects = completion.current.reconfigure(completing(props.names));
    view.current?.dispatch({ effects });
  }, [props.names]);
  useEffect(() => {
    const { state } = view.current!;
    const found = props.problem === undefined ? [] : [toDiagnostic(state, props.problem)];
    view.current!.dispatch(setDiagnostics(state, found));
  }, [props.problem]);
  return <div class="editor" ref={frame} />;
}

function makeExtensions(
  label: string,
  latest: {
    readonly current: Pick<Parameters<typeof SqlEditor>[0], 'onChange' | 'onRun' | 'names'>;
  },
  completion: Compartment,
) {
  const run = () => {
    latest.current.onRun();
    return true;
  };
  return [
    Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
    lineNumbers(),
    history(),
    drawSelection(),
    new LanguageSupport(WEIR_SQL.language),
    syntaxHighlighting(HIGHLIGHT),
    completion.of(completing(latest.current.names)),
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    placeholder('SELECT …'),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.domEventHandlers({ beforeinput: typeOverSelection }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onChange(update.state.doc.toString());
    }),
    THEME,
  ];
}

/**
 * Puts in what is typed over a selection. A browser that does it by itself keeps the colour of what it replaces, in a `style`
 * that the policy for content does not allow.
 */
function typeOverSelection({ inputType, data }: InputEvent, view: EditorView): boolean {
  const { state } = view;
  if (inputType !== 'insertText' || data === null || state.selection.main.empty) return false;
  if (!state.readOnly) {
    view.dispatch(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  }
  return true;
}

function completing(names: SchemaNames) {
  const source: CompletionSource = sqlCompletion(names);
  return autocompletion({ override: [source] });
}

/** From the place to the end of its word. */
function toDiagnostic(state: EditorState, { line, column, message }: TextProblem): Diagnostic {
  const { from: start, to: end } = state.doc.line(Math.min(line, state.doc.lines));
  const from = Math.min(start + column - 1, end);
  const [word = ''] = /^(?:[\w`.]+|\S)?/.exec(state.sliceDoc(from, end)) ?? [];
  return {
    from,
    to: Math.max(from + word.length, Math.min(from + 1, end)),
    severity: 'error',
    message,
  };
}
