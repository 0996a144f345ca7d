import { Component, type ComponentChildren } from "preact";
import { Text } from "./text";

/** Keeps a fault of one view from taking the page along. */
export class Boundary extends Component<{ children: ComponentChildren }, { error: string }> {
  override state = { error: "" };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error: String(error) });
  }

  override render() {
    if (this.state.error === "") return this.props.children;
    return (
      <div class="view">
        <p class="note failed" role="alert">
          The page cannot show this: <Text>{this.state.error}</Text>
        </p>
      </div>
    );
  }
}
